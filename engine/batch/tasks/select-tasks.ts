import { matchesName } from '../../../sandbox/index.ts'
import { UserError } from '../../core/user-error.ts'
import type { Task } from './task.ts'

/** The options that select the tasks of a batch from those in a file. */
type Selection = {
  /** Patterns with `*` and `?`; a task is selected if its id matches at least one of them. */
  readonly filter?: readonly string[] | undefined
  /** The seed for shuffling the tasks. The same seed gives the same order. Undefined: the tasks are not shuffled. */
  readonly shuffle?: number | undefined
  /** `FROM:TO` as in Python: positions count from 0, negative ones count from the end, and `TO` itself is excluded. */
  readonly slice?: string | undefined
  /** The maximum number of tasks. */
  readonly limit?: number | undefined
}

/**
 * Returns the tasks that a selection chooses. The steps are applied in this order: filter, shuffle, slice, limit.
 *
 * @throws UserError `usage` for an invalid slice, and if no task is left
 */
export function selectTasks(all: readonly Task[], { filter, shuffle, slice, limit }: Selection): readonly Task[] {
  const filtered = filter === undefined ? all : all.filter(({ id }) => filter.some((pattern) => isMeant(id, pattern)))
  const ordered = shuffle === undefined ? filtered : shuffled(filtered, shuffle)
  const sliced = slice === undefined ? ordered : sliceOf(ordered, slice)
  const cut = limit === undefined ? sliced : sliced.slice(0, limit)
  if (cut.length > 0) return cut
  throw new UserError(
    'usage',
    `No task is left: --filter, --slice and --limit exclude ${all.length === 1 ? 'the only task' : `all ${all.length} tasks`}.`,
  )
}

/** Whether a pattern matches an id. A slash in an id is an ordinary character, which `*` and `?` also match. */
function isMeant(id: string, pattern: string): boolean {
  return matchesName(id.replaceAll('/', '\u0001'), [`**/${pattern.replaceAll('/', '\u0001')}`])
}

function sliceOf(tasks: readonly Task[], text: string): readonly Task[] {
  const parts = /^(-?\d{1,9})?:(-?\d{1,9})?$/.exec(text)
  if (parts === null) throw new UserError('usage', `--slice ${text}: expected FROM:TO, such as 0:50 or -10:.`)
  const [, from, to] = parts
  return tasks.slice(from === undefined ? 0 : Number(from), to === undefined ? undefined : Number(to))
}

/** The Fisher-Yates shuffle, with a random number generator (mulberry32) that gives the same numbers on every machine. */
function shuffled(tasks: readonly Task[], seed: number): readonly Task[] {
  const order = [...tasks]
  let state = seed >>> 0
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    const [one, two] = [order[at], order[other]]
    if (one === undefined || two === undefined) continue
    order[at] = two
    order[other] = one
  }
  return order
}
