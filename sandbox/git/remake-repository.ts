import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { decodeName, encodePath, encodeText } from '../path-bytes.ts'
import { headOf, holdGit, type GitDirectories } from './git-directories.ts'
import { largestIndex } from './git-writes.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import { parseIndex } from './index-file.ts'
import { findFaultInCommits, type ProtectedIn } from './judge-commits.ts'
import { noGit } from './plan-commits.ts'
import { configOf } from './remade-config.ts'
import { isOid, isPlainName, isRefName, readRefs, writePackedRefs, type Refs } from './refs.ts'

/** A request to make a repository anew from one that commands made. */
type RemakeWish = {
  /** The repository that commands made. Only its HEAD, refs, index and list of shallow commits are read, as data. */
  readonly from: GitDirectories
  /** A pack with all objects that it can reach, from git in a sandbox. */
  readonly pack: Buffer
  /** How many bytes an object's id has. */
  readonly oidBytes: number
  /** The remotes that it has, where the run's own commands named them. */
  readonly remotes: readonly { readonly name: string; readonly url: string }[]
  /** The directories that commands can write to: a git program in one of them is never started. */
  readonly roots: readonly string[]
  /** Which entries of the work tree must not land. */
  readonly protectedIn: ProtectedIn
}

/** The files of a repository that was made anew, by their paths in its git directory, or why it can't be made. */
type Remade =
  | {
      readonly files: readonly { readonly path: string; readonly content: Buffer; readonly mode: number }[]
      /** The refs that it doesn't have, although the original has them. */
      readonly dropped: readonly string[]
    }
  | { readonly why: string }

/**
 * Directories that each repository has, even if they are empty.
 *
 * @internal
 */
export const emptyDirectories = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']

const [largestShallow, emptyPack] = [4 * 1024 * 1024, 0]

/**
 * Makes a repository anew: objects that git has checked, refs, HEAD and an index, with the configuration of `git init` and the given remotes. Of the original,
 * nothing else is taken over: no settings, hooks, reflogs, or references to other repositories.
 *
 * @internal
 */
export async function remakeRepository(wish: RemakeWish): Promise<Remade> {
  const held = holdGit(wish.from)
  const git = locateHostGit(wish.roots)
  if (git === undefined) return { why: noGit }
  if (held === undefined) return { why: "its git directory can't be read" }
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-repository-'))
  let fresh: HeldDirectory | undefined
  try {
    const head = headIn(held.own, wish.oidBytes)
    if (head === undefined) return { why: 'its HEAD names neither a plain branch nor a commit' }
    for (const path of emptyDirectories) mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, 'HEAD'), encodeText(`${head}\n`))
    writeFileSync(join(folder, 'config'), configOf(wish))
    fresh = holdDirectory(encodePath(folder))
    return await fill(git, fresh, folder, held, wish, head)
  } finally {
    fresh?.close()
    held.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(
  git: HostGit,
  fresh: HeldDirectory,
  folder: string,
  { own, common }: NonNullable<ReturnType<typeof holdGit>>,
  { pack, oidBytes, remotes, protectedIn }: RemakeWish,
  head: string,
): Promise<Remade> {
  const all = readRefs(common, oidBytes)
  if (all === undefined) return { why: 'it has too many refs' }
  if (pack.length >= 12 && pack.readUInt32BE(8) !== emptyPack) {
    const words = ['index-pack', '--stdin', '--fsck-objects']
    const stored = await git.feed(fresh, words, Readable.from([pack], { objectMode: false }))
    if (!stored.ok) return { why: stored.complaint.split('\n')[0] ?? '' }
  }
  const wanted = keptRefs(all, new Set(remotes.map(({ name }) => name)))
  const tips = commitsAt(git, fresh, wanted)
  const refs: Refs = new Map([...wanted].filter(([name]) => tips.has(name)))
  const detached = head.startsWith('ref: ') ? [] : [head]
  const commits = [...new Set([...refs.keys()].flatMap((name) => tips.get(name) ?? [])), ...detached]
  // Without refs, everything counts as new.
  const shallow = shallowIn(common, oidBytes)
  if (shallow.length > 0) writeFileSync(join(folder, 'shallow'), shallow)
  if (commits.length > 0) {
    const fault = findFaultInCommits(git, fresh, { commits, before: undefined, protectedIn })
    if (fault !== undefined) return { why: fault }
    const input = encodeText(commits.map((each) => `${each}\n`).join(''))
    const whole = git.run(fresh, ['rev-list', '--objects', '--quiet', '--stdin'], { input })
    if (!whole.ok) return { why: `objects are missing (${whole.complaint.split('\n')[0] ?? ''})` }
  }
  if (refs.size > 0) writeFileSync(join(folder, 'packed-refs'), writePackedRefs(refs))
  stage(git, fresh, folder, { index: own.read('index', largestIndex), oidBytes, whyProtected: protectedIn(new Map()) })
  const files = ['HEAD', 'config', 'shallow', 'packed-refs', 'index'].map((path) => ({ path, mode: 0o644 }))
  const packs = readdirSync(join(folder, 'objects/pack')).map((name) => ({ path: `objects/pack/${name}`, mode: 0o444 }))
  const present = new Set(readdirSync(folder))
  return {
    files: [...packs, ...files.filter(({ path }) => present.has(path))].map(({ path, mode }) => ({
      ...{ path, mode },
      content: readFileSync(join(folder, path)),
    })),
    dropped: [...all.keys()].filter((name) => !refs.has(name)),
  }
}

/** The content of HEAD; undefined if it isn't the name of a branch or an object id. */
function headIn(own: HeldDirectory, oidBytes: number): string | undefined {
  const head = headOf(own)
  if (head === undefined) return undefined
  const branch = /^ref: (refs\/heads\/.+)$/s.exec(head)?.[1]
  return (branch !== undefined && isRefName(branch) && isPlainName(branch)) || isOid(head, oidBytes) ? head : undefined
}

/** The branches, tags, and refs of the remotes. Symbolic refs, and refs whose names differ from others only in case or are in the way of others, are left out. */
function keptRefs(all: Refs, remotes: ReadonlySet<string>): Refs {
  const kept = new Map<string, string>()
  const folded = new Set<string>()
  for (const [name, value] of all) {
    const [, kind, first = ''] = /^refs\/(heads|tags|remotes)\/([^/]+)/.exec(name) ?? []
    const isKnown = kind === 'remotes' ? remotes.has(first) : kind !== undefined
    const fold = name.normalize('NFC').toLowerCase()
    if (!isKnown || !isPlainName(name) || value.startsWith('ref: ') || folded.has(fold)) continue
    folded.add(fold)
    kept.set(name, value)
  }
  const inTheWay = (name: string): boolean => {
    const parts = name.split('/')
    return parts.some((_, index) => index > 1 && index < parts.length && kept.has(parts.slice(0, index).join('/')))
  }
  return new Map([...kept].filter(([name]) => !inTheWay(name)))
}

/** The commits that refs name, directly or by a tag. Refs that name anything else are left out. */
function commitsAt(git: HostGit, fresh: HeldDirectory, refs: Refs): ReadonlyMap<string, string> {
  const names = [...refs]
  const input = encodeText(names.map(([, value]) => `${value}^{commit}\n`).join(''))
  const { ok, stdout } = git.run(fresh, ['cat-file', '--batch-check=%(objectname) %(objecttype)', '--buffer'], {
    input,
  })
  const lines = ok ? String(stdout).split('\n') : []
  return new Map(
    names.flatMap(([name], index): readonly (readonly [string, string])[] => {
      const [commit = '', type] = lines[index]?.split(' ') ?? []
      return type === 'commit' ? [[name, commit]] : []
    }),
  )
}

function shallowIn(common: HeldDirectory, oidBytes: number): string {
  const lines = common.text('shallow', largestShallow)?.split('\n') ?? []
  return lines
    .filter((line) => isOid(line, oidBytes))
    .map((line) => `${line}\n`)
    .join('')
}

/** Writes an index with those entries of the original that are plain files and links which may land; without a readable one, that of the commit. */
function stage(
  git: HostGit,
  fresh: HeldDirectory,
  folder: string,
  {
    index,
    oidBytes,
    whyProtected,
  }: { readonly index: Buffer | undefined; readonly oidBytes: number; readonly whyProtected: ReturnType<ProtectedIn> },
): void {
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  const entries = index === undefined ? [] : parseIndex(index, oidBytes)
  if (entries === undefined || entries.some(({ stage: number }) => number !== 0)) {
    git.run(fresh, ['read-tree', 'HEAD'], { env })
    return
  }
  const named = entries
    .filter(({ mode, intentToAdd }) => (mode & 0o170000) !== gitlink && mode !== sparse && !intentToAdd)
    .map((entry) => ({ ...entry, name: decodeName(entry.path) }))
    .filter(({ name }) => whyProtected(name) === undefined)
  const asked = git.run(fresh, ['cat-file', '--batch-check=%(objecttype)', '--buffer'], {
    input: encodeText(named.map(({ oid }) => `${oid}\n`).join('')),
  })
  const types = String(asked.stdout).split('\n')
  const lines = named.flatMap(({ mode, oid, name }, at) =>
    types[at] === 'blob' ? [`${mode.toString(8)} ${oid}\t${name}\0`] : [],
  )
  if (lines.length > 0)
    git.run(fresh, ['update-index', '-z', '--index-info'], { env, input: encodeText(lines.join('')) })
}

const [gitlink, sparse] = [0o160000, 0o040000]
