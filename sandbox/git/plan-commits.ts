import { join } from 'node:path'
import { isOfRemote, lostFetched } from './fetched-refs.ts'
import { commitOf, holdGit, readCheckedOut, type CheckedOut, type GitDirectories } from './git-directories.ts'
import { largestIndex, planGit, type GitWrites } from './git-writes.ts'
import { locateHostGit, type HostGit } from './host-git.ts'
import { findFaultInCommits, type ProtectedIn } from './judge-commits.ts'
import { planHead } from './plan-head.ts'
import { planNewBranch } from './plan-new-branch.ts'
import type { LandedMove, MovedIndex } from './plan-move.ts'
import { planStaging, type StagingWish } from './plan-staging.ts'
import type { LeftRef, RefChange } from './ref-changes.ts'
import { commandFor, resetCommand } from './ref-commands.ts'
import { readRefs } from './refs.ts'
import { hasOddEntries, isNew, packObjects, withObjects, type PackedObjects } from './store-commits.ts'

/** A request to land what commands did in the private git directory of a view. */
type CommitsWish = {
  /** The repository in the private view, in which the commands worked. */
  readonly from: GitDirectories
  /** The user's repository. */
  readonly to: GitDirectories
  /** The prefix of the refs that keep what doesn't land under its own name, such as `refs/portcullis/RUN`. */
  readonly under: string
  /** The directories that commands can write to: a git program in one of them is never started. */
  readonly roots: readonly string[]
  /** What the commands changed in the view's repository. */
  readonly changes: readonly RefChange[]
  /** What was checked out in `to` when the view was made, or where the last landing left it. Undefined: that isn't known, so nothing moves. */
  readonly head: CheckedOut | undefined
  /** Which entries of the work tree must not land. */
  readonly protectedIn: ProtectedIn
  /** What decides which of the paths that the commands staged are staged. Absent: nothing is staged. */
  readonly staging?: StagingWish | undefined
}

/** A ref that gets a new value in the user's repository. `old` is undefined if the ref is new. */
export type PlannedRef = { readonly ref: string; readonly old?: string | undefined; readonly now: string }

/**
 * What happens to the checked-out branch. `moved`: it moves forward to `commit`, or, with `from`, HEAD follows the run to the new branch `branch` from the
 * branch `from`. `ref`: the ref that keeps the commit because the branch stayed, for the reason `stayed`.
 */
type PlannedHead = {
  readonly commit: string
  readonly ref?: string
  readonly stayed?: string
  readonly moved?: LandedMove
  readonly index?: MovedIndex | undefined
}

/** The plan for the landing. */
export type PlannedCommits =
  /** `refs`: new branches, and refs that keep what didn't land. `left`: why some objects could not be kept. */
  | {
      readonly type: 'planned'
      readonly head: PlannedHead | undefined
      readonly refs: readonly PlannedRef[]
      readonly kept: readonly LeftRef[]
      /** How the index changes, and how many paths are staged by that. Undefined: nothing is staged. */
      readonly staged?: { readonly index: MovedIndex; readonly paths: number } | undefined
      readonly git: GitWrites
      readonly left?: string
    }
  /** There is nothing to change in the repository. */
  | { readonly type: 'complete'; readonly kept: readonly LeftRef[] }
  /** A git directory can't be read. */
  | { readonly type: 'none' }
  | { readonly type: 'failed'; readonly why: string }

/** The maximum number of changed refs that are considered. */
const mostChanges = 100

/** Why nothing lands without a git program that can be trusted. */
export const noGit = "this machine has no git program that commands can't write to"

/**
 * Plans the landing of the commits that commands made in a private view, without changing the user's repository: the objects, which git has checked, are files
 * of the plan. The checked-out branch moves forward together with the index, if it is where it was and no commit contains what must not land. New branches
 * whose names shadow nothing land by the same judgement, and HEAD follows the run to one of them. Every other ref stays; what it would lose is kept below
 * `under`. None of the view's settings are read.
 *
 * @internal
 */
export async function planCommits(wish: CommitsWish): Promise<PlannedCommits> {
  const { from, to, roots } = wish
  const made = readCheckedOut(from)
  const [left, host] = [holdGit(from), holdGit(to)]
  let packed: PackedObjects | undefined
  try {
    if (made === undefined || left === undefined || host === undefined) return { type: 'none' }
    const git = locateHostGit(roots)
    if (git === undefined) return { type: 'failed', why: noGit }
    const objects = join(from.common, 'objects')
    if (hasOddEntries(left.common)) return { type: 'failed', why: `${objects} contains links or pipes` }
    packed = packObjects(git, host.own, { to, objects })
    const index = left.own.read('index', largestIndex)
    return await planAll(wish, { made, host, packed, objects, index })
  } finally {
    packed?.close()
    left?.close()
    host?.close()
  }
}

async function planAll(
  { to, under, changes, head, protectedIn, staging }: CommitsWish,
  {
    made,
    host,
    packed,
    objects,
    index,
  }: {
    readonly made: CheckedOut
    readonly host: NonNullable<ReturnType<typeof holdGit>>
    readonly packed: PackedObjects
    readonly objects: string
    readonly index: Buffer | undefined
  },
): Promise<PlannedCommits> {
  const { git } = packed
  const plan = planGit(git, host, to)
  const kept: LeftRef[] = []
  const refs: PlannedRef[] = []
  /** The commits that get a place in the repository. */
  const landing: string[] = []
  const present = readRefs(host.common, (made.commit?.length ?? 40) / 2) ?? new Map<string, string>()

  /** Keeps an object under a ref of the run, if the repository would otherwise not have it. Returns the ref; `why` if the object can't be stored. */
  const keep = (
    name: string,
    value: string,
    isCommit: boolean,
  ): { readonly ref: string } | { readonly why: string } | undefined => {
    const ref = `${under}/${name.replace(/^refs\//, '')}`
    const old = commitOf(host.common, ref)
    if (old === value) return { ref }
    if (isCommit && isNew(git, host.own, value, landing, objects) === false) return undefined
    const why = plan.setRef({ name: ref, old, now: value })
    if (why !== undefined) return { why }
    refs.push({ ref, old, now: value })
    landing.push(value)
    return { ref }
  }
  const faultOf = (commit: string): string | undefined =>
    findFaultInCommits(git, host.own, { commits: [commit], before: head?.commit, protectedIn })

  const { commit, branch } = made
  let problem: string | undefined
  let planned: PlannedHead | undefined
  const isOfHead = ({ name }: RefChange): boolean => name === 'HEAD' || name === branch
  if (commit !== undefined && changes.some(isOfHead)) {
    const why = await packed.add([commit])
    if (why !== undefined) return { type: 'failed', why }
    const outcome = planHead({ head, commit, branch }, { git, host, plan, present, faultOf })
    if ('why' in outcome) {
      const named = keep(branch ?? 'HEAD', commit, true)
      // A name that isn't UTF-8 can't be used.
      const place = named !== undefined && 'why' in named ? keep('HEAD', commit, true) : named
      if (place !== undefined && 'why' in place) return { type: 'failed', why: place.why }
      const ref = place?.ref
      if (ref !== undefined) planned = { commit, ref, stayed: outcome.why }
      if (branch !== undefined && branch === head?.branch)
        kept.push({ ref: branch, why: outcome.why, command: resetCommand(ref ?? commit) })
      else if (branch !== undefined && present.has(branch) && ref !== undefined)
        kept.push(leftRef({ name: branch, old: present.get(branch), now: commit }, outcome.why, ref))
      else kept.push(leftRef({ name: 'HEAD', now: branch ?? commit }, outcome.why, ref))
    } else if ('moved' in outcome) {
      planned = { commit, ...outcome }
      landing.push(commit)
    }
  }
  const others = changes.filter((each) => !isOfHead(each) && !isOfRemote(each))
  const [considered, rest] = [others.slice(0, mostChanges), others.slice(mostChanges)]
  kept.push(...rest.map(({ name }) => ({ ref: name, why: `only ${mostChanges} changes are considered` })))
  const wanted = considered.flatMap(({ name, now }) =>
    now === undefined || now.startsWith('ref: ') || present.get(name) === now ? [] : [now],
  )
  const isRefused = wanted.length > 0 && (await packed.add(wanted)) !== undefined
  for (const change of considered) {
    const { name, now } = change
    if (now === undefined) {
      if (present.has(name)) kept.push(leftRef(change, 'the run removed it, and nothing is removed', undefined))
      continue
    }
    if (present.get(name) === now) continue
    if (now.startsWith('ref: ')) {
      kept.push({ ref: name, why: 'it is symbolic' })
      continue
    }
    // If all together are refused, each is tried by itself.
    const why = isRefused ? await packed.add([now]) : undefined
    if (why !== undefined) {
      kept.push({ ref: name, why })
      problem = `${name}: ${why}`
      continue
    }
    const isCommit = namesCommit(git, host.own, now, objects)
    const stays = planNewBranch({ change, isCommit }, { host, plan, present, faultOf })
    if (stays === undefined) {
      refs.push({ ref: name, now })
      landing.push(now)
      continue
    }
    const place = keep(name, now, isCommit)
    const ref = place !== undefined && 'ref' in place ? place.ref : undefined
    kept.push(leftRef(change, stays, ref))
  }
  kept.push(...lostFetched(git, host.own, changes))
  const staged =
    staging &&
    (await planStaging(packed, host, plan, {
      ...{ ...staging, index, objects, whyProtected: protectedIn(new Map()), moved: planned?.index },
      committed: planned?.moved === undefined && commit !== head?.commit ? commit : undefined,
    }))
  if (staged !== undefined && 'why' in staged) kept.push({ ref: 'index', why: staged.why })
  const isStaged = staged !== undefined && 'index' in staged
  const isAny = refs.length > 0 || planned?.moved !== undefined || isStaged
  if (!isAny && problem === undefined) return { type: 'complete', kept }
  if (isAny) plan.addFiles(packed.files())
  return {
    type: 'planned',
    head: planned,
    refs: refs.filter(({ ref }) => ref !== planned?.ref),
    kept,
    ...(isStaged ? { staged } : {}),
    git: plan.writes(),
    ...(problem === undefined ? {} : { left: problem }),
  }
}

function leftRef(change: RefChange, why: string, ref: string | undefined): LeftRef {
  const command = commandFor(change, ref)
  return { ref: change.name, why, ...(command === undefined ? {} : { command }) }
}

function namesCommit(git: HostGit, host: Parameters<HostGit['run']>[0], oid: string, objects: string): boolean {
  const { ok, stdout } = git.run(host, ['cat-file', '-t', oid], { env: withObjects(objects) })
  return ok && stdout.toString().trim() === 'commit'
}
