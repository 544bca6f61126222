import { lstatSync, readFileSync, renameSync, statSync, writeFileSync, type BigIntStats } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { parseIndex, readHostFile, type IndexEntry } from '../../../sandbox/index.ts'
import { bytesOf } from '../path-keys.ts'
import type { OverlayStorage } from './storage.ts'

/** Tells which files had the content that git's index records. */
type CleanFiles = {
  /**
   * Whether a tracked file had this content when the view was made. `now`: its present metadata in the lower tree; undefined if it is gone. False if
   * this isn't known.
   */
  readonly wasClean: (key: string, now: BigIntStats | undefined) => boolean
}

const largestIndex = 1024 * 1024 * 1024
const [modifiedAt, inodeAt, modeAt, sizeAt] = [8, 20, 24, 36]
const atOnce = 500

/** A view whose index has at most this many entries begins only after its files have been looked at. For larger ones, that would take too long. */
const lookedAtFirst = 10_000

/** How many milliseconds after the start of a run the files of a large tree are looked at, so that this doesn't delay the first request. */
const pause = 500

/** The entries of an index for files, by path; none if there is no index, or it can't be read. */
export function readIndex(file: string): ReadonlyMap<string, IndexEntry> {
  const content = readHostFile(file, { maxBytes: largestIndex })
  const entries = content && (parseIndex(content, 20) ?? parseIndex(content, 32))
  const files = (entries ?? []).filter(({ stage, mode }) => stage === 0 && mode !== gitlink)
  return new Map(files.map((entry) => [entry.path, entry]))
}

/** The mode of a submodule, which is a directory. */
const gitlink = 0o160000

/** The size of a file of which an index entry has the metadata. */
export function recordedSize({ stat }: IndexEntry): number {
  return stat.readUInt32BE(sizeAt)
}

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
    if (!isSmall) await wait(pause, signal)
    const entries = readIndex(index)
    const { mtimeNs } = statSync(index, { bigint: true })
    const found: string[] = []
    let looked = 0
    for (const entry of entries.values()) {
      if (!isSmall && ++looked % atOnce === 0) await setImmediate()
      if (signal.aborted) return
      if (!isClean(entry, lower, mtimeNs)) found.push(entry.path)
    }
    writeFileSync(`${unclean}.new`, JSON.stringify(found), { mode: 0o600 })
    renameSync(`${unclean}.new`, unclean)
  }
  const all = look().catch(() => undefined)
  return { first: isSmall ? all : Promise.resolve(), all }
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { setTimeout } = await import('node:timers/promises')
  await setTimeout(milliseconds, undefined, { signal })
}

/**
 * Whether a file has the metadata that git recorded for it. A file that is as new as the index may have been written again without a change of its
 * metadata (see racy-git in git's documentation), so it doesn't count as clean.
 */
function isClean({ path, mode, stat }: IndexEntry, lower: string, indexNs: bigint): boolean {
  const now = lstatSync(bytesOf(lower, path), { bigint: true, throwIfNoEntry: false })
  if (now === undefined) return false
  const seconds = BigInt(stat.readUInt32BE(modifiedAt))
  const recorded = seconds * 1_000_000_000n + BigInt(stat.readUInt32BE(modifiedAt + 4))
  const kind = now.isSymbolicLink() ? 0o120000 : (now.mode & 0o100n) === 0n ? 0o100644 : 0o100755
  return (
    (now.isFile() || now.isSymbolicLink()) &&
    kind === mode &&
    stat.readUInt32BE(modeAt) === mode &&
    now.mtimeNs === recorded &&
    now.mtimeNs < indexNs &&
    BigInt.asUintN(32, now.size) === BigInt(stat.readUInt32BE(sizeAt)) &&
    BigInt.asUintN(32, now.ino) === BigInt(stat.readUInt32BE(inodeAt))
  )
}

/** Reads what `noteCleanFiles` noted. */
export function readCleanFiles({ unclean }: OverlayStorage): CleanFiles {
  const noted = statSync(unclean, { bigint: true, throwIfNoEntry: false })
  if (noted === undefined) return { wasClean: () => false }
  const keys = new Set(JSON.parse(readFileSync(unclean, 'utf8')) as readonly string[])
  return { wasClean: (key, now) => !keys.has(key) && (now === undefined || now.ctimeNs >= noted.ctimeNs) }
}
