import { UserError } from '../core/user-error.ts'

/** One of the parts into which the trials of a batch are divided. The index starts at 0. */
type Shard = { readonly index: number; readonly of: number }

/**
 * Parses `INDEX/COUNT`. The index starts at 0, like `JOB_COMPLETION_INDEX` in Kubernetes.
 *
 * @throws UserError `usage` for a text in any other form, or if the index is not less than the count
 */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d{1,6})\/([1-9]\d{0,5})$/.exec(text) ?? []
  const shard = { index: Number(index), of: Number(count) }
  if (index !== undefined && shard.index < shard.of) return shard
  throw new UserError(
    'usage',
    `--shard ${text}: expected INDEX/COUNT, where the index starts at 0, such as 0/4 to 3/4 for four parts.`,
  )
}

/**
 * The part of a list that belongs to a shard: every n-th entry, where n is the number of shards, so that the sizes of the parts differ by at most
 * one. If `shard` is undefined, the whole list is returned.
 */
export function partOf<T>(all: readonly T[], shard: Shard | undefined): readonly T[] {
  return shard === undefined ? all : all.filter((_, at) => at % shard.of === shard.index)
}
