import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ChangeRecord, RunChange, Side } from './change-record.ts'
import type { CommitsReport } from './land-commits.ts'
import { withLanding, type KeptIndex, type NotedLanding, type ViewState } from './view-state.ts'

/**
 * What a landing changes in the state of a session.
 *
 * @param landing undefined if no file had to be written
 * @param landed.part the changes that landed; undefined if all changes of the session did
 */
export function stateAfter(
  state: ViewState,
  landing: NotedLanding | undefined,
  { commits, part }: { readonly commits: CommitsReport; readonly part: readonly RunChange[] | undefined },
): Pick<
  ViewState,
  'state' | 'landings' | 'commits' | 'refs' | 'kept' | 'indexes' | 'made' | 'imported' | 'unlanded' | 'applied'
> {
  return {
    state: part === undefined ? 'landed' : state.state,
    landings: landing === undefined ? state.landings : withLanding(state, landing),
    ...withCommits(state, commits),
    ...(part && withApplied(state, part)),
  }
}

/** The state in which a session has left the path of a change: the one that landed last or, if none has landed, the one before the session. */
export function lastSides(applied: ViewState['applied']): (change: RunChange) => Side {
  const landed = new Map(applied?.map(({ root, path, side }) => [join(root, path), side]))
  return ({ root, path, before }) => landed.get(join(root, path)) ?? before
}

/** Adds the states of landed paths. They matter only if runs can continue in the view, that is, if only a part of the changes landed. */
function withApplied({ applied = [] }: ViewState, part: readonly RunChange[]): Pick<ViewState, 'applied'> {
  const known = new Map(applied.map((each) => [join(each.root, each.path), each]))
  for (const { root, path, before, after, no_merge } of part) {
    const at = join(root, path)
    const first = known.get(at)?.before ?? before
    known.set(at, { root, path, before: first, side: after, ...(no_merge === undefined ? {} : { no_merge }) })
  }
  return { applied: [...known.values()] }
}

/** Changes that landed in part and that a later run took back in the view, as changes from the landed state to the one before the runs. */
export function revertedInView(
  state: ViewState | undefined,
  { changes }: Pick<ChangeRecord, 'changes'>,
): readonly RunChange[] {
  const changed = new Set(changes.map(({ root, path }) => join(root, path)))
  return (state?.applied ?? []).flatMap(({ root, path, before, side, ...rest }): readonly RunChange[] =>
    changed.has(join(root, path)) || isDeepStrictEqual(before, side)
      ? []
      : [{ root, path, before: side, after: before, ...rest }],
  )
}

/**
 * Adds one index. If earlier landings have changed the same index, an undo restores it as it was before the first of them. If somebody else has changed it
 * between two landings, restoring it would lose that change, so `to` becomes empty, which never equals the hash of an index.
 */
function withIndex(indexes: readonly KeptIndex[], now: KeptIndex): readonly KeptIndex[] {
  const known = indexes.find(({ path }) => path === now.path)
  const others = indexes.filter((one) => one !== known)
  if (known === undefined) return [...others, now]
  const staged = (known.staged ?? 0) + (now.staged ?? 0)
  return [...others, { ...known, to: known.to === now.from ? now.to : '', ...(staged > 0 && { staged }) }]
}

type LandedCommit = CommitsReport['landed'][number]

/** Adds landed commits to those of earlier landings, so that one undo takes all of them back. */
function withCommits(
  { commits = [], refs = [], kept = [], indexes = [], made = [], imported = [], unlanded = [] }: ViewState,
  { landed, refs: landedRefs, kept: left, failed, complete, indexes: changed, made: landedMade }: CommitsReport,
): Pick<ViewState, 'commits' | 'refs' | 'kept' | 'indexes' | 'made' | 'imported' | 'unlanded'> {
  const all = landed.reduce(withCommit, commits)
  const allRefs = landedRefs.reduce(withRef, refs)
  const reached = [...new Set([...complete, ...landed.map(({ path }) => path), ...landedRefs.map(({ path }) => path)])]
  const now = [...kept.filter(({ path }) => !reached.includes(path)), ...left]
  return {
    ...(all.length === 0 ? {} : { commits: all }),
    ...(indexes.length + changed.length === 0 ? {} : { indexes: changed.reduce(withIndex, indexes) }),
    ...(made.length + landedMade.length === 0 ? {} : { made: [...made, ...landedMade] }),
    ...(allRefs.length === 0 ? {} : { refs: allRefs }),
    kept: now,
    // A repository in which only refs landed has all commits, too.
    imported: [...new Set([...imported, ...complete, ...landedRefs.map(({ path }) => path)])],
    unlanded: [...new Set([...unlanded.filter((path) => !reached.includes(path)), ...failed.map(({ path }) => path)])],
  }
}

/**
 * Adds one entry. An earlier entry for the same branch is replaced. If the checked-out branch has moved more than once, only the entry for the last move
 * says so, and an undo moves the branch back to where it was before the first move.
 */
function withCommit(commits: readonly LandedCommit[], now: LandedCommit): readonly LandedCommit[] {
  const isSame = (one: LandedCommit): boolean => one.path === now.path && one.ref === now.ref
  const again = commits.find((one) => isSame(one) && one.commit === now.commit)
  const before = commits.find(
    ({ path, commit, moved }) =>
      path === now.path && moved !== undefined && moved.branch === now.moved?.branch && commit === now.moved.old,
  )
  const others = commits.flatMap((one): readonly LandedCommit[] => {
    if (one === before) return isSame(one) ? [] : withoutMove(one)
    return isSame(one) && (one === again || one.moved === undefined) ? [] : [one]
  })
  const moved = before?.moved ?? now.moved ?? again?.moved
  return [...others, { ...now, ...(moved && { moved }) }]
}

/** A landed commit without the move of the checked-out branch; nothing if there is no separate branch for the commit either. */
function withoutMove({ moved: _, ...commit }: LandedCommit): readonly LandedCommit[] {
  return commit.ref === undefined ? [] : [commit]
}

type LandedRef = CommitsReport['refs'][number]

/** Adds one ref. If it has landed before and nobody else has changed it since, an undo gives it the value from before the first landing. */
function withRef(refs: readonly LandedRef[], now: LandedRef): readonly LandedRef[] {
  const before = refs.find(({ path, ref }) => path === now.path && ref === now.ref)
  const { old, ...rest } = now
  const first = before !== undefined && before.now === old ? before.old : old
  return [...refs.filter((one) => one !== before), { ...rest, ...(first === undefined ? {} : { old: first }) }]
}
