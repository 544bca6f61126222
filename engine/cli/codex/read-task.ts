import type { ReviewOptions } from '../exec-options.ts'
import type { Start } from '../../session/start-session.ts'
import type { CodexOptions } from './codex-options.ts'

/** What a command line for Codex asks for. */
type CodexTask = {
  /** The prompt; undefined: it is read from standard input. */
  readonly prompt: string | undefined
  readonly start: Start
  /** The change to review; undefined for a task. */
  readonly review?: ReviewOptions
}

const within = ['resume', 'fork', 'review'] as const

/**
 * Reads the words of a command line for Codex: `exec [PROMPT]`, `exec [PROMPT] resume [SESSION] [PROMPT]` and so on.
 *
 * @param literal how many of the last words stand behind `--`: none of them is a subcommand
 * @returns the task, or what is wrong with the words
 */
export function readTask(words: readonly string[], options: CodexOptions, literal = 0): CodexTask | string {
  const [command, ...rest] = words
  if (command === 'review') return readReview(rest, undefined, options)
  if (command !== 'exec' && command !== 'e')
    return `agent codex answers the command lines of codex exec and codex review, but not those of codex ${command}. Start it as agent codex exec "…"`
  // A prompt may come before the subcommand, so the subcommand is the first or the second word.
  const at = rest
    .slice(0, Math.max(0, Math.min(2, rest.length - literal)))
    .findIndex((word) => within.some((each) => each === word))
  if (at === -1) return single(rest, (prompt) => ({ prompt, start: { type: 'new' } }))
  const before = at === 1 ? rest[0] : undefined
  const after = rest.slice(at + 1)
  switch (rest[at] as (typeof within)[number]) {
    case 'review':
      return readReview(after, before, options)
    case 'resume':
      return readSession(after, before, options, (id) => ({ type: 'resume', id, everywhere: options.all === true }))
    case 'fork':
      return readSession(after, before, options, (id) => ({ type: 'fork', id }))
  }
}

function readSession(
  words: readonly string[],
  before: string | undefined,
  { last }: CodexOptions,
  start: (id: string | undefined) => Start,
): CodexTask | string {
  if (last === true) return single(words, (prompt = before) => ({ prompt, start: start(undefined) }))
  const [id, ...rest] = words
  if (id === undefined) return 'name a session, or give --last'
  return single(rest, (prompt = before) => ({ prompt, start: start(id) }))
}

function readReview(
  words: readonly string[],
  before: string | undefined,
  { uncommitted, base, commit }: CodexOptions,
): CodexTask | string {
  const targets = {
    ...(uncommitted === undefined ? {} : { uncommitted }),
    ...(base === undefined ? {} : { base }),
    ...(commit === undefined ? {} : { commit }),
  }
  if (Object.keys(targets).length > 1) return 'give one of --uncommitted, --base and --commit'
  return single(words, (prompt = before) => ({ prompt, start: { type: 'new' }, review: targets }))
}

function single(words: readonly string[], task: (word: string | undefined) => CodexTask): CodexTask | string {
  if (words.length > 1) return `one prompt was expected, but there are ${words.length} words: put the prompt in quotes`
  return task(words[0])
}
