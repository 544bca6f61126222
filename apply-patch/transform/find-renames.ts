import { isUtf8 } from 'node:buffer'
import type { FilePair } from './file-pair.ts'

/** A file that is at another path after the change. */
type Rename = { readonly from: string; readonly to: string; readonly before: Buffer; readonly after: Buffer }

/** The maximum number of pairs of a removed and an added file whose lines are compared. Beyond it, only files with the same bytes are found. */
const mostPairs = 10_000

type Side = { readonly path: string; readonly bytes: Buffer; readonly isExecutable: boolean | undefined }

/**
 * Finds which added files are removed ones under another name, because a patch that moves a file keeps its mode, its owner and its attributes. Such files have the
 * same bytes, or, if they are text, at least half of their lines. Empty files show nothing.
 *
 * @returns the renames by the path of the added file
 * @internal
 */
export function findRenames(pairs: readonly FilePair[]): ReadonlyMap<string, Rename> {
  const sides = (one: 'before' | 'after', other: 'before' | 'after'): Side[] =>
    pairs.flatMap((pair) => {
      const bytes = pair[other] === undefined ? pair[one] : undefined
      if (bytes === undefined || bytes.length === 0) return []
      return [{ path: pair.path, bytes: Buffer.from(bytes), isExecutable: isExecutable(pair.modes?.[one]) }]
    })
  const [removed, added] = [sides('before', 'after'), sides('after', 'before')]
  const found = new Map<string, Rename>()
  const taken = new Set<string>()
  const take = (old: Side, fresh: Side): void => {
    found.set(fresh.path, { from: old.path, to: fresh.path, before: old.bytes, after: fresh.bytes })
    taken.add(old.path)
  }
  const byBytes = Map.groupBy(removed, ({ bytes }) => bytes.toString('latin1'))
  for (const fresh of added) {
    const same = (byBytes.get(fresh.bytes.toString('latin1')) ?? []).filter((old) => mayMove(old, fresh, taken))
    const old = same.find(({ path }) => nameOf(path) === nameOf(fresh.path)) ?? same[0]
    if (old !== undefined) take(old, fresh)
  }
  const left = removed.filter(({ path, bytes }) => !taken.has(path) && isUtf8(bytes))
  const open = added.filter(({ path, bytes }) => !found.has(path) && isUtf8(bytes))
  if (left.length * open.length > mostPairs) return found
  const counted = new Map([...left, ...open].map(({ path, bytes }) => [path, countLines(bytes)]))
  const alike = left
    .flatMap((old) =>
      open.map((fresh) => ({ old, fresh, share: shareOf(counted.get(old.path), counted.get(fresh.path)) })),
    )
    .filter(({ share }) => share >= 0.5)
    .toSorted((one, other) => other.share - one.share)
  for (const { old, fresh } of alike) if (!found.has(fresh.path) && mayMove(old, fresh, taken)) take(old, fresh)
  return found
}

/** Whether a file can be executed, as git records it; undefined if that isn't known. */
export function isExecutable(mode: number | undefined): boolean | undefined {
  return mode === undefined ? undefined : (mode & 0o100) !== 0
}

function mayMove(old: Side, fresh: Side, taken: ReadonlySet<string>): boolean {
  // A file can't be moved to a place below itself.
  const isNested = fresh.path.startsWith(`${old.path}/`) || old.path.startsWith(`${fresh.path}/`)
  return !taken.has(old.path) && !isNested && old.isExecutable === fresh.isExecutable
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

type Lines = { readonly counts: ReadonlyMap<string, number>; readonly total: number }

function countLines(bytes: Buffer): Lines {
  const lines = bytes.toString().split(/\r\n|\n|\r/)
  const counts = new Map<string, number>()
  for (const line of lines) if (line.trim() !== '') counts.set(line, (counts.get(line) ?? 0) + 1)
  return { counts, total: [...counts.values()].reduce((sum, count) => sum + count, 0) }
}

/** The share of lines that two files have in common, of the lines of the longer one. */
function shareOf(one: Lines | undefined, other: Lines | undefined): number {
  if (one === undefined || other === undefined) return 0
  let common = 0
  for (const [line, count] of one.counts) common += Math.min(count, other.counts.get(line) ?? 0)
  return common / Math.max(one.total, other.total, 1)
}
