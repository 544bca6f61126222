import { commitOf, headOf, type HeldGit } from './git-directories.ts'
import type { GitPlan } from './git-writes.ts'
import type { HostGit } from './host-git.ts'
import { planMove, short, type MovedIndex } from './plan-move.ts'
import { otherCheckedOut, type LeftRef, type OwnRefs } from './plan-refs.ts'
import { isNew } from './store-commits.ts'

/**
 * A commit that becomes reachable. `ref`: the branch that is created for it; absent if the commit needs none, because the repository has it already. `moved`:
 * the checked-out branch that moves to `commit`. `stayed`: why a branch that should have moved doesn't. `index`: what the move does to the index; undefined if
 * the branch has already moved.
 */
export type PlannedRef = {
  readonly ref?: string
  readonly commit: string
  readonly moved?: { readonly branch: string; readonly old: string | undefined }
  readonly stayed?: string
  readonly index?: MovedIndex
}

/** Plans how to keep the checked-out commit of the view, and whether the checked-out branch moves to it. @returns the reason if the commit can't be kept */
export function planHead(
  {
    own,
    ref,
    commit,
    branch,
    isChanged,
  }: {
    readonly own: OwnRefs | undefined
    readonly ref: string
    readonly commit: string
    readonly branch: string | undefined
    /** Whether commands may have changed what is checked out. */
    readonly isChanged: boolean
  },
  {
    git,
    host,
    plan,
    refs,
    kept,
    add,
  }: {
    readonly git: HostGit
    readonly host: HeldGit
    readonly plan: GitPlan
    readonly refs: PlannedRef[]
    readonly kept: LeftRef[]
    readonly add: (wanted: string, tip: string) => string | undefined
  },
): string | undefined {
  const head = own?.head
  // An earlier import that was killed may already have moved the branch.
  const isThere =
    head !== undefined &&
    branch === head.branch &&
    head.commit !== commit &&
    commitOf(host.common, branch ?? '') === commit
  const isKept = isNew(git, host.own, commit) === true || commitOf(host.common, ref) === commit
  const why = isKept ? add(ref, commit) : undefined
  if (why !== undefined || head === undefined || own === undefined) return why
  const isSame = branch === head.branch && commit === head.commit
  const isSwitched =
    branch !== head.branch && headOf(host.own) === `ref: ${branch}` && commitOf(host.common, branch ?? '') === commit
  if (isSame || isSwitched || !isChanged) return undefined
  const beside = refs[0]?.ref ?? commit.slice(0, 12)
  const follows =
    !own.onlyForward.head ||
    head.commit === undefined ||
    git.run(host.own, ['merge-base', '--is-ancestor', head.commit, commit]).ok
  const other = `${short(head.branch ?? 'HEAD')} now points to a different commit`
  const moving: { readonly index?: MovedIndex } | { readonly why: string } = isThere
    ? {}
    : follows
      ? planMove(git, host, plan, { branch, was: head, now: commit, beside })
      : { why: other }
  const [first] = refs
  if (!('why' in moving))
    refs[0] = { ...(first ?? { commit }), ...moving, moved: { branch: branch ?? '', old: head.commit } }
  else if (first !== undefined) refs[0] = { ...first, stayed: moving.why }
  else if (branch !== undefined && branch === head.branch) kept.push({ ref: branch, why: moving.why })
  else kept.push({ ref: 'HEAD', why: otherCheckedOut(branch ?? commit) })
  return undefined
}
