import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commitOf, headOf, type CheckedOut } from './git-directories.ts'
import type { GitPlan } from './git-writes.ts'
import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'

/** The maximum size of an index, in bytes. */
const largestIndex = 1024 ** 3

type Move = {
  readonly branch: string | undefined
  readonly was: CheckedOut
  /** The commit to which the branch moves; undefined if the branch is to have no commits. */
  readonly now: string | undefined
}

/** Plans a move of the checked-out branch together with the index. Returns the reason if the branch can't move. */
export function planMove(
  git: HostGit,
  { own, common }: { readonly own: HeldDirectory; readonly common: HeldDirectory },
  plan: GitPlan,
  { branch, was, now }: Move,
): string | undefined {
  if (branch === undefined || was.branch === undefined) return 'no branch was checked out'
  if (branch !== was.branch) return `the run had checked out ${short(branch)}, not ${short(was.branch)}`
  if (headOf(own) !== `ref: ${branch}`) return `${short(branch)} is no longer checked out`
  if (commitOf(common, branch) !== was.commit) return `${short(branch)} now points to a different commit`
  const before = own.read('index', largestIndex)
  const index = movedIndex(git, own, before, was.commit, now)
  if ('why' in index) return `staged changes conflict with the commits (${index.why})`
  const refused = plan.setRef({ name: branch, old: was.commit, now })
  if (refused !== undefined) return refused
  plan.moveHead(was.commit, now)
  plan.setIndex(before, index.bytes)
  return undefined
}

/**
 * The index after the branch has moved from the commit `was` to the commit `now`. Changes that somebody has staged in the meantime are kept. If they
 * can't be kept, the branch can't move, and `why` says so.
 */
function movedIndex(
  git: HostGit,
  own: HeldDirectory,
  before: Buffer | undefined,
  was: string | undefined,
  now: string | undefined,
): { readonly bytes: Buffer } | { readonly why: string } {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-index-'))
  try {
    const file = join(folder, 'index')
    if (before !== undefined) writeFileSync(file, before)
    const env = { GIT_INDEX_FILE: file }
    const trees = [was ?? emptyTree(git, own), now ?? emptyTree(git, own)]
    const { ok, complaint } = git.run(own, ['read-tree', '-i', '-m', ...trees], { env })
    return ok ? { bytes: readFileSync(file) } : { why: complaint.split('\n')[0] ?? '' }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function emptyTree(git: HostGit, host: HeldDirectory): string {
  return git.run(host, ['hash-object', '-w', '-t', 'tree', '--stdin']).stdout.toString('latin1').trim()
}

/** The name of a branch without `refs/heads/`. */
export const short = (branch: string): string => branch.replace(/^refs\/heads\//, '')
