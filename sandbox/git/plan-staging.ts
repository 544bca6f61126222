import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { decodeName, decodeText, encodeText } from '../path-bytes.ts'
import type { HeldGit } from './git-directories.ts'
import type { GitPlan } from './git-writes.ts'
import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import { parseIndex, type IndexEntry } from './index-file.ts'
import { operationIn } from './operation-state.ts'
import { listed, withIndex, type MovedIndex } from './plan-move.ts'
import { withObjects, type PackedObjects } from './store-commits.ts'

/** What is at a path of a work tree once everything has landed. */
export type LandedEntry =
  | { readonly type: 'absent' }
  | { readonly type: 'file'; readonly bytes: Buffer; readonly mode: number }
  | { readonly type: 'symlink'; readonly target: string }
  /** A repository with this commit checked out. */
  | { readonly type: 'repository'; readonly commit: string | undefined }

/** What decides which paths are staged. */
export type StagingWish = {
  /** The index of the view when the view was made, or when the last landing was noted. Undefined: there was none. */
  readonly made: Buffer | undefined
  /** Returns what is at a path once everything has landed; undefined if that isn't what the run left there, or isn't known. */
  readonly landsAs: (path: string) => LandedEntry | undefined
}

/** A path that was staged, in the form that `decodeText` returns. `entry` is undefined if it was removed from the index. */
type StagedPath = { readonly path: string; readonly entry: IndexEntry | undefined }

const [link, gitlink, executable] = [0o120000, 0o160000, 0o100755]
const mostAtOnce = 10_000

/**
 * The paths whose entries differ between two indexes; undefined if one of them can't be read.
 *
 * @internal
 */
export function stagedBetween(made: Buffer | undefined, now: Buffer | undefined): readonly StagedPath[] | undefined {
  if (made === undefined ? now === undefined : now?.equals(made) === true) return []
  const [before, after] = [parse(made), parse(now)]
  if (before === undefined || after === undefined) return undefined
  const known = new Map(before.map((entry) => [entry.path, entry]))
  const present = new Set(after.map(({ path }) => path))
  const isPlain = ({ stage, intentToAdd, mode }: IndexEntry): boolean =>
    stage === 0 && !intentToAdd && mode !== sparseDirectory
  const changed = after.filter((entry) => {
    const was = known.get(entry.path)
    return isPlain(entry) && !(was !== undefined && isPlain(was) && was.oid === entry.oid && was.mode === entry.mode)
  })
  const removed = before.filter((entry) => isPlain(entry) && !present.has(entry.path))
  return [
    ...removed.map(({ path }) => ({ path: decodeName(path), entry: undefined })),
    ...changed.map((entry) => ({ path: decodeName(entry.path), entry })),
  ]
}

const sparseDirectory = 0o040000

function parse(index: Buffer | undefined): readonly IndexEntry[] | undefined {
  return index === undefined ? [] : (parseIndex(index, 20) ?? parseIndex(index, 32))
}

/**
 * Plans to stage what commands staged in a view: each path whose entry is what the work tree has there once everything has landed, unless somebody else has staged
 * something at that path meanwhile. Everything else in the index stays.
 *
 * @param options.index the view's index, as commands left it
 * @param options.committed the commit that commands checked out, if the branch did not follow: what it contains isn't staged
 * @param options.moved what the move of the branch does to the index, which is part of the plan already
 * @returns undefined if nothing is staged; else how the index changes, or why it can't
 */
export async function planStaging(
  packed: PackedObjects,
  host: HeldGit,
  plan: GitPlan,
  options: StagingWish & {
    readonly index: Buffer | undefined
    readonly committed: string | undefined
    readonly objects: string
    readonly moved: MovedIndex | undefined
    readonly whyProtected: (path: string, change?: 'removal') => string | undefined
  },
): Promise<{ readonly index: MovedIndex; readonly paths: number } | { readonly why: string } | undefined> {
  const { git } = packed
  const staged = stagedBetween(options.made, options.index)
  if (staged === undefined) return { why: "the run's index can't be read, so what it staged is unknown" }
  if (staged.length === 0) return undefined
  const { before, now } = plan.index()
  const known = new Map(parse(options.made)?.map((entry) => [decodeName(entry.path), nameOf(entry)]))
  const [present, current] = [before, now].map((index) => entriesIn(packed, host, index))
  if (present === undefined || current === undefined) return { why: "git can't read the index" }
  const committed =
    options.committed === undefined ? undefined : treeOf(git, host.own, options.committed, withObjects(options.objects))
  const wanted = staged.filter(({ path, entry }) => {
    const name = entry && nameOf(entry)
    if (present.get(path) !== known.get(path) || current.get(path) === name) return false
    if (committed !== undefined && committed.get(path) === name) return false
    if (options.whyProtected(path, entry === undefined ? 'removal' : undefined) !== undefined) return false
    if (entry === undefined) return true
    const isKnownLink = known.get(path)?.startsWith(gitlink.toString(8)) === true
    return (entry.mode !== gitlink || isKnownLink) && isIn(entry, options.landsAs(path))
  })
  if (wanted.length === 0) return undefined
  if (operationIn(host.own) !== undefined) return { why: 'an operation is in progress; conclude or abort it first' }
  const oids = wanted.flatMap(({ entry }) => (entry === undefined || entry.mode === gitlink ? [] : [entry.oid]))
  for (let at = 0; at < oids.length; at += mostAtOnce) {
    const why = await packed.add(oids.slice(at, at + mostAtOnce))
    if (why !== undefined) return { why }
  }
  const lines = wanted.map(({ path, entry }) =>
    encodeText(`${entry === undefined ? `0 ${'0'.repeat(40)}` : nameOf(entry)}\t${path}\0`),
  )
  return withIndex(now, (file) => {
    const env = { GIT_INDEX_FILE: file }
    const from = options.moved?.from ?? listed(git, host.own, file)
    const { ok, complaint } = git.run(host.own, ['update-index', '-z', '--index-info'], {
      env,
      input: Buffer.concat(lines),
    })
    const to = ok ? listed(git, host.own, file) : undefined
    if (from === undefined || to === undefined) return { why: complaint.split('\n')[0] ?? '' }
    plan.setIndex(before, readFileSync(file))
    return { index: { before, from, to }, paths: wanted.length }
  })
}

/** Whether an entry of an index has the content that a path will have, possibly with converted line endings. */
function isIn({ mode, oid }: IndexEntry, landed: LandedEntry | undefined): boolean {
  switch (landed?.type) {
    case 'file': {
      if (mode === link || mode === gitlink || (mode === executable) !== ((landed.mode & 0o100) !== 0)) return false
      const { bytes } = landed
      return blobId(bytes, oid) === oid || (bytes.includes('\r\n') && blobId(withoutReturns(bytes), oid) === oid)
    }
    case 'symlink':
      return mode === link && blobId(encodeText(landed.target), oid) === oid
    case 'repository':
      return mode === gitlink && landed.commit === oid
    case 'absent':
    case undefined:
      return false
    default:
      return landed satisfies never
  }
}

function withoutReturns(bytes: Buffer): Buffer {
  return encodeText(decodeText(bytes).replaceAll('\r\n', '\n'))
}

/** The id that a blob with these bytes has in a repository with ids like `like`. */
function blobId(bytes: Buffer, like: string): string {
  return createHash(like.length === 64 ? 'sha256' : 'sha1')
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest('hex')
}

const nameOf = ({ mode, oid }: IndexEntry): string => `${mode.toString(8)} ${oid}`

/** The entries of an index of the host, by path. Those of paths with conflicts equal no other entry. Undefined if git can't read the index. */
function entriesIn(
  { git }: PackedObjects,
  { own }: HeldGit,
  index: Buffer | undefined,
): ReadonlyMap<string, string> | undefined {
  return withIndex(index, (file) => {
    const { ok, stdout } = git.run(own, ['ls-files', '-s', '-z'], { env: { GIT_INDEX_FILE: file } })
    return ok ? byPath(stdout, (meta) => (meta.endsWith(' 0') ? meta.slice(0, -2) : 'conflict')) : undefined
  })
}

/** The modes and objects of a commit's entries, by their paths. */
export function treeOf(
  git: HostGit,
  host: HeldDirectory,
  commit: string,
  env: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  const { stdout } = git.run(host, ['ls-tree', '-r', '-z', '--full-tree', commit], { env })
  return byPath(stdout, (meta) => meta.replace(/ [a-z]+ /, ' '))
}

/** Reads lines that consist of an entry and, after a tab, its path. */
function byPath(lines: Buffer, nameIn: (meta: string) => string): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const line of decodeText(lines).split('\0')) {
    const tab = line.indexOf('\t')
    if (tab !== -1) names.set(line.slice(tab + 1), nameIn(line.slice(0, tab)))
  }
  return names
}
