import { join } from 'node:path'
import { Readable } from 'node:stream'
import { encodePath } from '../path-bytes.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import { isRefName, parseRef, refInPacked } from './refs.ts'

/** What is checked out: a branch, by its whole name, and the commit. Either may be undefined: no branch, or one without commits. */
export type CheckedOut = { readonly branch: string | undefined; readonly commit: string | undefined }

/** What is to be taken over into a repository. */
type CommitsWish = {
  /** The git directory of the private view that they were made in. */
  readonly from: string
  /** The git directory that they are taken into. */
  readonly to: string
  /** What names them there, a branch's whole name. Where other commits have it, a number is added. */
  readonly ref: string
  /** What commands may write to, so that no git of theirs is started. */
  readonly roots: readonly string[]
  /** Moves the branch that is checked out, if it is this and stands there still. Absent: it stays. */
  readonly move?: CheckedOut
}

/** What became of them. */
type TakenCommits =
  /** `branch`: the one that was moved from `old`. `stayed`: why it wasn't, where it was to be. */
  | {
      readonly type: 'taken'
      readonly ref: string
      readonly commit: string
      readonly moved?: { readonly branch: string; readonly old: string | undefined }
      readonly stayed?: string
    }
  /** There are none in the view that the repository lacks a name for. */
  | { readonly type: 'none' }
  | { readonly type: 'failed'; readonly why: string }

const [smallFile, largestPacked, mostRefs] = [4096, 256 * 1024 * 1024, 100]
const identity = Object.fromEntries(
  ['COMMITTER', 'AUTHOR'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Portcullis'],
    [`GIT_${who}_EMAIL`, 'portcullis@localhost'],
  ]),
)

/**
 * What is checked out by a git directory, read without git. Undefined where that can't be told, as with refs in reftables.
 *
 * @internal
 */
export function readCheckedOut(git: string): CheckedOut | undefined {
  const held = hold(git)
  if (held === undefined) return undefined
  try {
    const head = held.read('HEAD', smallFile)?.toString('latin1').trimEnd()
    const branch = /^ref: (refs\/heads\/.+)$/.exec(head ?? '')?.[1]
    if (branch !== undefined && isRefName(branch) && branch !== 'refs/heads/.invalid') {
      return { branch, commit: commitOf(held, branch) }
    }
    return head !== undefined && isCommit(head) ? { branch: undefined, commit: head } : undefined
  } finally {
    held.close()
  }
}

/**
 * Takes over the commits that commands made in a private view: the objects, which git checks, and a branch that names the last of them. Nothing of the
 * view's settings is read. The branch that is checked out moves only where that is wanted, and only from where it stood, with its index.
 *
 * @internal
 */
export async function takeCommits({ from, to, ref, roots, move }: CommitsWish): Promise<TakenCommits> {
  const made = readCheckedOut(from)
  const host = hold(to)
  if (made?.commit === undefined || host === undefined) return { type: 'none' }
  try {
    const git = locateHostGit(roots)
    if (git === undefined)
      return { type: 'failed', why: 'this machine has no git that commands could not have written' }
    const { commit } = made
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${join(from, 'objects').replace(/["\\]/g, '\\$&')}"` }
    const fresh = git.run(host, ['rev-list', '--objects', commit, '--not', '--all'], { env })
    if (!fresh.ok) return { type: 'failed', why: fresh.complaint }
    const known = commitOf(host, ref)
    if (fresh.stdout.length === 0 && known !== commit) return { type: 'none' }
    if (known !== commit) {
      const pack = git.run(host, ['pack-objects', '-q', '--stdout'], { env, input: fresh.stdout })
      if (!pack.ok) return { type: 'failed', why: pack.complaint }
      const strict = host.stat('shallow') === undefined ? ['--strict'] : []
      const words = ['index-pack', '--stdin', '--fsck-objects', ...strict]
      const stored = await git.feed(host, words, Readable.from([pack.stdout], { objectMode: false }))
      if (!stored.ok) return { type: 'failed', why: stored.complaint }
    }
    const name = freeName(git, host, ref, commit)
    const named = known === commit || update(git, host, [{ name, old: commitOf(host, name), now: commit }])
    if (!named) return { type: 'failed', why: `${name} can't be made: look at git branch --list` }
    if (move === undefined) return { type: 'taken', ref: name, commit }
    const stayed = moveCheckedOut(git, host, { branch: made.branch, was: move, now: commit })
    if (stayed !== undefined) return { type: 'taken', ref: name, commit, stayed }
    return { type: 'taken', ref: name, commit, moved: { branch: made.branch ?? '', old: move.commit } }
  } finally {
    host.close()
  }
}

/**
 * Takes back what `takeCommits` did: the branch goes back to where it stood, if it still is where it was moved to, and the name goes. The objects stay
 * until git throws them away.
 *
 * @returns why the branch stays where it is; undefined where it went back or had not moved
 * @internal
 */
export function giveBackCommits(options: {
  readonly git: string
  readonly roots: readonly string[]
  readonly ref: string
  readonly commit: string
  readonly moved?: { readonly branch: string; readonly old: string | undefined } | undefined
}): string | undefined {
  const { ref, commit, moved } = options
  const host = hold(options.git)
  if (host === undefined) return 'the repository is gone'
  try {
    const git = locateHostGit(options.roots)
    if (git === undefined) return 'this machine has no git that commands could not have written'
    if (moved !== undefined) {
      const { branch, old } = moved
      const stayed = moveCheckedOut(git, host, { branch, was: { branch, commit }, now: old })
      if (stayed !== undefined) return stayed
    }
    update(git, host, [{ name: ref, old: commit, now: undefined }])
    return undefined
  } finally {
    host.close()
  }
}

type Move = {
  readonly branch: string | undefined
  readonly was: CheckedOut
  /** Undefined: to a branch without commits. */
  readonly now: string | undefined
}

/** Moves the checked-out branch with its index. Gives why it stays, with the index as it was. */
function moveCheckedOut(git: HostGit, host: HeldDirectory, { branch, was, now }: Move): string | undefined {
  if (branch === undefined || was.branch === undefined) return 'no branch was checked out'
  if (branch !== was.branch) return `the run had checked out ${short(branch)}, and not ${short(was.branch)}`
  const head = host.read('HEAD', smallFile)?.toString('latin1').trimEnd()
  if (head !== `ref: ${branch}`) return `${short(branch)} is not checked out any more`
  if (commitOf(host, branch) !== was.commit) return `${short(branch)} is not where it was any more`
  // From one tree to the other: what somebody staged meanwhile stays, or stands in the way.
  const trees = [was.commit ?? emptyTree(git, host), now ?? emptyTree(git, host)]
  const words = ['read-tree', '-i', '-m', ...trees]
  const tried = git.run(host, ['read-tree', '-n', ...words.slice(1)])
  if (!tried.ok) return `what is staged stands in the way (${tried.complaint.split('\n')[0] ?? ''})`
  if (!update(git, host, [{ name: branch, old: was.commit, now }])) return `${short(branch)} was moved at this moment`
  const { ok, complaint } = git.run(host, words)
  if (ok) return undefined
  update(git, host, [{ name: branch, old: now, now: was.commit }])
  return `the index could not be written (${complaint.split('\n')[0] ?? ''})`
}

function emptyTree(git: HostGit, host: HeldDirectory): string {
  return git.run(host, ['hash-object', '-w', '-t', 'tree', '--stdin']).stdout.toString('latin1').trim()
}

/** The wanted name, or with a number behind it where it names commits that would be lost. */
function freeName(git: HostGit, host: HeldDirectory, ref: string, commit: string): string {
  for (let number = 1; number < mostRefs; number += 1) {
    const name = number === 1 ? ref : `${ref}-${number}`
    const known = commitOf(host, name)
    if (known === undefined || git.run(host, ['merge-base', '--is-ancestor', known, commit]).ok) return name
  }
  return ref
}

type RefUpdate = { readonly name: string; readonly old: string | undefined; readonly now: string | undefined }

/** All of them from what they were, or none. */
function update(git: HostGit, host: HeldDirectory, updates: readonly RefUpdate[]): boolean {
  const input = updates.map(({ name, old, now }) => {
    const none = '0'.repeat((now ?? old ?? '').length)
    if (now === undefined) return `option no-deref\0delete ${name}\0${old ?? none}\0`
    return `option no-deref\0update ${name}\0${now}\0${old ?? none}\0`
  })
  const words = ['update-ref', '-m', 'portcullis: taken over', '--stdin', '-z']
  return git.run(host, words, { input: Buffer.from(input.join(''), 'latin1'), env: identity }).ok
}

function commitOf(held: HeldDirectory, ref: string): string | undefined {
  const loose = held.read(ref, smallFile)?.toString('latin1').trimEnd()
  if (loose !== undefined) {
    const value = parseRef(Buffer.from(loose), loose.length / 2)
    return value !== undefined && isCommit(value) ? value : undefined
  }
  return refInPacked(held.read('packed-refs', largestPacked), ref)
}

const isCommit = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
const short = (branch: string): string => branch.replace(/^refs\/heads\//, '')

function hold(git: string): HeldDirectory | undefined {
  try {
    return holdDirectory(encodePath(git))
  } catch {
    // None there, or none that is a directory.
    return undefined
  }
}
