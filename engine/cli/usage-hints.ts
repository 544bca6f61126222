import { shellJoin } from '../core/text/shell-join.ts'

/** Words of other programs' command lines, and what to write in their place. */
const instead: Readonly<Record<string, string>> = {
  '--yolo': 'That is --dangerously-bypass-approvals-and-sandbox; agent codex takes the options of codex exec.',
  '--dangerously-skip-permissions':
    'That is --dangerously-bypass-approvals-and-sandbox; agent claude takes the options of claude -p.',
  login: 'There is no login: set OPENAI_API_KEY in the environment, or ANTHROPIC_API_KEY and -m claude-….',
}

/**
 * What somebody probably meant by an invalid command line.
 *
 * @param words the words after the program's name
 * @param message the parser's message about them
 * @returns undefined if the message says all that can be said
 */
export function usageHint(words: readonly string[], message: string): string | undefined {
  const [, word] = /^unknown (?:option|command) '([^']*)/.exec(message) ?? []
  if (word !== undefined && Object.hasOwn(instead, word)) return instead[word]
  if (word === '-p' || word === '--print')
    return `Did you mean ${asTask(words.slice(words.indexOf(word) + 1))}? agent claude takes the options of claude -p.`
  const isTask = words.length > 1 || /\s/.test(words[0] ?? '')
  if (message.startsWith('unknown command') && isTask && !message.includes('Did you mean'))
    return `Did you mean ${asTask(words)}?`
  const [, command] = /^too many arguments for '(exec|resume|fork|replay)'/.exec(message) ?? []
  if (command === undefined) return undefined
  return command === 'exec' && words[0] === command
    ? `Put the prompt in quotes: ${asTask(words.slice(1))}`
    : 'Put the prompt in quotes.'
}

/** The words as the prompt of a run. Options can't be told from it, so a line with options gets no example. */
function asTask(words: readonly string[]): string {
  const isPlain = words.length > 0 && words.every((word) => !word.startsWith('-'))
  return isPlain ? shellJoin(['agent', 'exec', words.join(' ')]) : 'agent exec "PROMPT"'
}
