import { UserError } from '../core/user-error.ts'

/** One of the parts to which the trials of a batch are distributed, counted from 0. */
type Shard = { readonly index: number; readonly of: number }

/**
 * `INDEX/COUNT`, the index from 0 as `JOB_COMPLETION_INDEX` of Kubernetes is.
 *
 * @throws UserError `usage` for what is none
 */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d{1,6})\/([1-9]\d{0,5})$/.exec(text) ?? []
  const shard = { index: Number(index), of: Number(count) }
  if (index !== undefined && shard.index < shard.of) return shard
  throw new UserError('usage', `--shard ${text}: expected INDEX/COUNT with the index from 0, such as 0/4 to 3/4.`)
}

/** The part of a list that belongs to a shard: every n-th entry, so that all shards have the same size, whatever the order. */
export function partOf<T>(all: readonly T[], shard: Shard | undefined): readonly T[] {
  return shard === undefined ? all : all.filter((_, at) => at % shard.of === shard.index)
}
