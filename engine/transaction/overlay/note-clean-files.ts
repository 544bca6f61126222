import { readFileSync, renameSync, statSync, writeFileSync, type BigIntStats } from 'node:fs'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { filesMatching } from '../clean-files.ts'
import { statsOf } from './lower-directories.ts'
import type { OverlayStorage } from './storage.ts'

/** Tells which files had the content that git's index records. */
type CleanFiles = {
  /**
   * Whether a tracked file had this content when the view was made. `now`: its present metadata in the lower tree; undefined if it is gone. False if
   * this isn't known.
   */
  readonly wasClean: (key: string, now: BigIntStats | undefined) => boolean
}

const atOnce = 500

/** A view whose index has at most this many entries begins only after its files have been looked at. For larger ones, that would take too long. */
const lookedAtFirst = 10_000

/** The delay, in milliseconds, before the files of a large tree are examined, so that the first request doesn't have to wait for it. */
const pause = 500

/**
 * Notes which tracked files differ from git's index when a run begins, because nobody can find that out after somebody has changed them. A file that is
 * changed before it was looked at counts as different.
 *
 * @returns `first`: settles when the run may begin; `all`: settles when all files have been looked at. A failure leaves all files unknown
 */
export function noteCleanFiles(
  lower: string,
  { index, unclean }: OverlayStorage,
  signal: AbortSignal,
): { readonly first: Promise<void>; readonly all: Promise<void> } {
  const isSmall = (statSync(index, { throwIfNoEntry: false })?.size ?? 0) < lookedAtFirst * 100
  const look = async (): Promise<void> => {
    if (!isSmall) await setTimeout(pause, undefined, { signal })
    const { blobOf, index: known } = filesMatching(index)
    const found: string[] = []
    let looked = 0
    for (const { path } of known?.entries ?? []) {
      if (!isSmall && ++looked % atOnce === 0) await setImmediate()
      if (signal.aborted) return
      const now = statsOf(lower, path)
      if (now === undefined || blobOf(path, now) === undefined) found.push(path)
    }
    writeFileSync(`${unclean}.new`, JSON.stringify(found), { mode: 0o600 })
    renameSync(`${unclean}.new`, unclean)
  }
  const all = look().catch(() => undefined)
  return { first: isSmall ? all : Promise.resolve(), all }
}

/** Reads what `noteCleanFiles` noted. */
export function readCleanFiles({ unclean }: OverlayStorage): CleanFiles {
  const noted = statSync(unclean, { bigint: true, throwIfNoEntry: false })
  if (noted === undefined) return { wasClean: () => false }
  const keys = new Set(JSON.parse(readFileSync(unclean, 'utf8')) as readonly string[])
  return { wasClean: (key, now) => !keys.has(key) && (now === undefined || now.ctimeNs >= noted.ctimeNs) }
}
