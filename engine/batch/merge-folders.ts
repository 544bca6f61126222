import { cpSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../core/user-error.ts'
import { BatchFolder } from './folder/batch-folder.ts'
import type { Task } from './tasks/task.ts'
import { endedAttempts } from './run/settle-trial.ts'

/**
 * The result of a merge: the new folder, the number of settled trials, and the number of results that don't count, because an earlier folder has a
 * result of the same trial.
 */
type Merged = { readonly folder: BatchFolder; readonly settled: number; readonly superseded: number }

/**
 * Merges folders of one batch, such as those of its shards, into a new folder. Every attempt is copied, and its cost counts. If two folders settled the same
 * trial, the result in the folder that comes first in `paths` counts, and the other one is superseded.
 *
 * @param paths the folders to merge, at least one
 * @throws UserError `usage` if one of the folders contains no readable batch, if they belong to different batches, or if the new folder is not empty
 */
export function mergeFolders(paths: readonly string[], to: string, owner: number): Merged {
  const sources = paths.map((path) => BatchFolder.open(path, owner))
  const [first] = sources
  if (first === undefined) throw new UserError('usage', 'Name the folders to merge.')
  const other = sources.find(({ hash }) => hash !== first.hash)
  if (other !== undefined) {
    throw new UserError('usage', `${other.path} belongs to a different batch than ${first.path}: they can't be merged.`)
  }
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new UserError('usage', `${to} is not empty: name an empty or a new folder.`)
  const tasks: readonly Task[] = first.tasks()
  const { shard: _, tasks: __, ...manifest } = first.manifest
  const folder = BatchFolder.begin(to, tasks, manifest, owner)
  let [settled, superseded] = [0, 0]
  for (const source of sources) {
    for (const trial of folder.trials(tasks)) {
      const numbers = new Map(
        source.attempts(trial.key).map((old) => [old, takeAttempt(source, folder, trial.key, old)]),
      )
      const record = source.settled(trial.key)
      const attempt = numbers.get(record?.attempt ?? 0)
      if (record === undefined || attempt === undefined) continue
      const moved = moveRecord(record, trial.key, attempt)
      const counted = { ...moved, attempts: endedAttempts(folder, trial.key).length }
      if (folder.settle(counted)) settled += 1
      else superseded += 1
    }
  }
  return { folder, settled, superseded }
}

/** Copies an attempt into the new folder, where it gets the next free number. @returns this number */
function takeAttempt(from: BatchFolder, to: BatchFolder, trial: string, old: number): number {
  const attempt = to.addAttempt(trial)
  const source = from.attemptPath(trial, old)
  const records = ['result.json', 'superseded.json'].map((name) => join(source, name))
  const filter = (path: string): boolean => !records.includes(path)
  cpSync(source, to.attemptPath(trial, attempt), { recursive: true, verbatimSymlinks: true, filter })
  // The order matters, because `endAttempt` keeps the record that it is given first and only stores a second one next to it.
  for (const record of [from.attemptOf(trial, old), from.supersededOf(trial, old)])
    if (record !== undefined) to.endAttempt(moveRecord(record, trial, attempt))
  return attempt
}

/** Changes the number of an attempt in its record, and in the paths that the record contains. */
function moveRecord<
  T extends { readonly attempt: number; readonly patch?: string | undefined; readonly session?: string | undefined },
>(record: T, trial: string, attempt: number): T {
  const place = (path: string): string => path.replace(`runs/${trial}/${record.attempt}/`, `runs/${trial}/${attempt}/`)
  return {
    ...record,
    attempt,
    ...(record.patch === undefined ? {} : { patch: place(record.patch) }),
    ...(record.session === undefined ? {} : { session: place(record.session) }),
  }
}
