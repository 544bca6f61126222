import { scanCommands } from './scan-commands.ts'
import { Source } from './source.ts'
import { ScanError, type Scan } from './token.ts'

/**
 * Tokenises a shell text, independently of the parser whose tree is walked: words, quotes, comments, substitutions, redirections and heredocs, by the
 * lexical rules of bash(1). Every byte belongs to a token, or is a blank or a separator. Rare forms are refused, and so are forms that different
 * shells read differently. The tokenizer is written by hand because the end of a token depends on what is open around it, and because the body of a
 * heredoc is separate from its operator.
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
