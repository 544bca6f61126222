import { createHash } from 'node:crypto'
import { findRenames } from '../../apply-patch/index.ts'
import {
  committedFiles,
  gitDirectoriesOf,
  openTreeBudget,
  TreeTooLarge,
  type CommittedFiles,
} from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import { kindOf, type ChangeRecord, type RunChange, type Side } from './change-record.ts'
import { keptBytes } from './kept-files.ts'
import { below, placeOf } from './path-keys.ts'

/** Fewer deleted files than this are never much. */
const fewest = 10

/** Larger files are compared only by their hashes, in bytes. */
const largestCompared = 4 * 1024 * 1024

/** How many paths a sentence names. */
const mostNamed = 3

/**
 * Finds what the landing of a run would lose that may be the user's only copy, or most of the work: more than half of the tracked files, all of the untracked
 * ones, or uncommitted changes that are replaced by the last commit's content. Files that were moved aren't lost.
 *
 * @param directory the session's folder
 * @returns a sentence for each loss; empty for nearly every run
 */
export function findLosses(directory: string, { changes }: Pick<ChangeRecord, 'changes'>): readonly string[] {
  const roots = Map.groupBy(changes, ({ root }) => root)
  return [...roots].flatMap(([root, own]) => {
    const git = gitDirectoriesOf(root)
    const files = git && committedFiles(root, git, [...roots.keys()])
    return [...lostFiles(directory, root, own, files), ...restoredFiles(directory, own, files)]
  })
}

function lostFiles(
  directory: string,
  root: string,
  changes: readonly RunChange[],
  files: CommittedFiles | undefined,
): readonly string[] {
  const removed = changes.filter((each) => kindOf(each) === 'delete' && isFile(each.before) && each.ignored !== true)
  if (removed.length < fewest) return []
  const moved = movedFrom(directory, changes, removed)
  const lost = removed.map(({ path }) => path).filter((path) => !moved.has(path))
  if (lost.length < fewest) return []
  const tracked = new Set(files?.tracked())
  const [known, unknown] = [lost.filter((path) => tracked.has(path)), lost.filter((path) => !tracked.has(path))]
  const gone = new Set([...unknown, ...moved])
  const mostTracked = known.length >= fewest && known.length > tracked.size / 2
  const allUntracked =
    unknown.length >= fewest &&
    (files === undefined ? !hasOther(root, gone) : files.untracked().every((path) => gone.has(path)))
  return [
    ...(mostTracked ? [`It deletes ${known.length} of ${tracked.size} tracked files: ${named(known)}.`] : []),
    ...(allUntracked
      ? [`It deletes all ${unknown.length} ${files === undefined ? '' : 'untracked '}files: ${named(unknown)}.`]
      : []),
  ]
}

/** The removed files that are at another path now, with the same content or, if they are text, with most of their lines. */
function movedFrom(
  directory: string,
  changes: readonly RunChange[],
  removed: readonly RunChange[],
): ReadonlySet<string> {
  const added = changes.filter((each) => kindOf(each) === 'add' && isFile(each.after))
  const places = new Map<string, string[]>()
  for (const { path, before } of removed)
    places.set(contentOf(before), [...(places.get(contentOf(before)) ?? []), path])
  const moved = new Set<string>()
  const rest = added.filter(({ after }) => {
    const from = places.get(contentOf(after))?.pop()
    if (from !== undefined) moved.add(from)
    return from === undefined
  })
  const pairs = [...removed.filter(({ path }) => !moved.has(path)), ...rest].map(({ path, before, after }) => ({
    path,
    before: bytesOf(directory, before),
    after: bytesOf(directory, after),
  }))
  for (const { from } of findRenames(pairs).values()) moved.add(from)
  return moved
}

/** Finds files whose uncommitted changes are gone, because they have the content of the checked-out commit again. */
function restoredFiles(
  directory: string,
  changes: readonly RunChange[],
  files: CommittedFiles | undefined,
): readonly string[] {
  const updated = changes.filter(
    ({ before, after }) => before.type === 'file' && after.type === 'file' && before.hash !== after.hash,
  )
  if (files === undefined || updated.length === 0) return []
  const objects = files.objects(updated.map(({ path }) => path))
  const restored = updated.filter(({ path, before, after }) => {
    const object = objects.get(path)
    const now = object === undefined ? undefined : bytesOf(directory, after)
    if (object === undefined || now === undefined || objectOf(now, object.length) !== object) return false
    const was = bytesOf(directory, before)
    // With other line ends it is still what was committed.
    return was !== undefined && !withoutReturns(was).equals(withoutReturns(now))
  })
  if (restored.length === 0) return []
  const [what, change] = restored.length === 1 ? ['a file', 'its'] : [`${restored.length} files`, 'their']
  return [
    `It puts ${what} back to the last commit, without ${change} uncommitted changes: ${named(restored.map(({ path }) => path))}.`,
  ]
}

function isFile({ type }: Side): boolean {
  return type === 'file' || type === 'symlink'
}

function contentOf(side: Side): string {
  if (side.type === 'symlink') return `link ${side.target}`
  return side.type === 'file' && side.hash !== null && side.size > 0 ? side.hash : 'nothing to compare'
}

function bytesOf(directory: string, side: Side): Buffer | undefined {
  if (side.type !== 'file' || side.hash === null || side.size > largestCompared) return undefined
  return keptBytes(directory, side.hash)
}

/** The name of the git object with this content: a SHA-1 of 40 digits, or a SHA-256. */
function objectOf(bytes: Buffer, digits: number): string {
  const sum = createHash(digits === 40 ? 'sha1' : 'sha256')
  return sum.update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

function withoutReturns(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}

/** Whether a tree outside all repositories has any file that isn't in the set. In doubt, it has none, so that the reviewer is asked. */
function hasOther(root: string, known: ReadonlySet<string>): boolean {
  const budget = openTreeBudget(root)
  const pending = ['']
  try {
    for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
      for (const { name, kind } of budget.list(placeOf(root, directory))) {
        const key = below(directory, name)
        if (kind === 'directory') pending.push(key)
        else if (!known.has(pathOfKey(key))) return true
      }
    }
    return false
  } catch (error) {
    if (error instanceof TreeTooLarge) return false
    throw error
  }
}

function named(paths: readonly string[]): string {
  const more = paths.length - mostNamed
  return `${paths.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
