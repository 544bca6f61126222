import { shellJoin } from '../core/text/shell-join.ts'

const budgets = 'Budgets are --max-cost (in dollars), --max-tokens, --max-turns and --timeout (in seconds).'

/** Words of other programs' command lines, and what to write in their place. */
const instead: Readonly<Record<string, string>> = {
  '--yolo': 'That is --dangerously-bypass-approvals-and-sandbox; agent codex takes the options of codex exec.',
  '--dangerously-skip-permissions':
    'That is --dangerously-bypass-approvals-and-sandbox; agent claude takes the options of claude -p.',
  '--budget': budgets,
  '--max-budget-usd': budgets,
  login: 'There is no login: set OPENAI_API_KEY in the environment, or ANTHROPIC_API_KEY and -m claude-….',
}

/** How many options a hint names at most. */
const mostNamed = 3

/**
 * What somebody probably meant by an invalid command line.
 *
 * @param words the words after the program's name
 * @param message the parser's message about them
 * @param options the long names of the options that would have been valid
 * @returns undefined if the message says all that can be said
 */
export function usageHint(
  words: readonly string[],
  message: string,
  options: readonly string[] = [],
): string | undefined {
  const [, word] = /^unknown (?:option|command) '([^']*)/.exec(message) ?? []
  if (word !== undefined && Object.hasOwn(instead, word)) return instead[word]
  const [, part] = /^--(.+)$/.exec(word ?? '') ?? []
  const longer = options.filter((each) => part !== undefined && each.slice(2).split('-').includes(part))
  if (longer.length > 0 && longer.length <= mostNamed) return `Did you mean ${longer.join(' or ')}?`
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
