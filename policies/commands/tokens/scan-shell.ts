import { scanCommands } from './scan-commands.ts'
import { Source } from './source.ts'
import { ScanError, type Scan } from './token.ts'

/**
 * Tokenises a shell text, independently of the parser whose tree is walked: words, quotes, comments, substitutions, redirections and
 * heredocs by bash(1)'s lexical rules. Every byte goes into one token or is a blank or a separator. Rare forms and those that shells read
 * differently are refused. It is written by hand since the end of a token depends on what is open around it, and a heredoc's body is
 * separate from its operator.
 */
export function scanShell(text: string, shell: 'bash' | 'sh'): Scan {
  const source = new Source(text, shell === 'sh', scanCommands)
  try {
    scanCommands(source, '')
    return { ok: true, tokens: source.tokens }
  } catch (error) {
    if (!(error instanceof ScanError)) throw error
    return { ok: false, reason: error.reason, excessive: error.excessive }
  }
}
