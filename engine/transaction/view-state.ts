import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { UserError } from '../core/user-error.ts'
import { side } from './change-record.ts'

/** The strategies for creating a view, from which a user can choose. */
const strategies = ['copy', 'reflink', 'overlay'] as const
export type Strategy = (typeof strategies)[number]

const moved = z
  .object({
    branch: z.string(),
    old: z.string().optional(),
    from: z.string().optional(),
    from_commit: z.string().optional(),
  })
  .optional()

const commits = z.array(
  z.object({
    path: z.string(),
    ref: z.string().optional(),
    commit: z.string(),
    moved,
    stayed: z.string().optional(),
  }),
)

const ref = z.object({ path: z.string(), ref: z.string(), old: z.string().optional(), now: z.string() })
const keptRef = z.object({ path: z.string(), ref: z.string(), why: z.string(), command: z.string().optional() })

const index = z.object({
  /** The repository's work tree. */
  path: z.string(),
  /** The hash of the stored index from before the landing. Absent: there was no index. */
  before: z.string().optional(),
  /** Hashes of the entries of the index before and after the landing, as in `MovedIndex`. */
  from: z.string(),
  to: z.string(),
  /** How many paths were staged. Absent: none. */
  staged: z.int().optional(),
})

/** What a landing did to the index of a repository. */
export type KeptIndex = z.infer<typeof index>

const landing = z.object({
  id: z.string(),
  root: z.string(),
  at: z.string(),
  can_undo: z.boolean(),
  undone: z.boolean(),
  /** Notes about the landing that the user should see. */
  notes: z.array(z.string()).optional(),
})

/** One landing of a session's changes: its id, which `agent undo` needs, and the tree in which it is recorded. */
export type NotedLanding = z.infer<typeof landing>

const settled = z.object({
  version: z.literal(1),
  strategy: z.enum(strategies),
  /** When the view was created, in ISO 8601 format. */
  began: z.string(),
  roots: z.array(z.object({ path: z.string(), source: z.string() })).min(1),
  /** The absolute paths that the view shows even if files there hold secrets. Absent: the view was made by a version that left out no files. */
  shown: z.array(z.string()).readonly().optional(),
  /** The absolute paths of the files that the view leaves out because they hold secrets. */
  not_shown: z.array(z.string()).readonly().optional(),
  /** The directories that the session's runs could write to, without symlinks. Absent: an earlier version made the view. */
  writable: z.array(z.string()).readonly().optional(),
  /** By what the last run's changes are judged: `agent apply` needs it after that run was killed. Absent: an earlier version made the view. */
  judged_by: z
    .object({
      protected_paths: z.array(z.string()),
      /** Whether files that git ignores land. */
      with_ignored: z.boolean(),
      /** The absolute path of a file that this program writes itself, so that the run's own entry there is left out. */
      delivers_to: z.string().optional(),
    })
    .optional(),
  /**
   * `making`: the view is still incomplete, and no run has worked in it. `open`: runs can continue in the view, and at most a part of the changes has landed.
   * `landed`: everything that should land is in the tree. `discarded`: the view was deleted.
   */
  state: z.enum(['making', 'open', 'landed', 'discarded']),
  /** The landings, oldest first. Those that were undone stay, marked as such, until the next landing. */
  landings: z.array(landing).readonly().default([]),
  /** The commits that landed in the repositories, and what `undo` needs to remove them again. */
  commits: commits.readonly().optional(),
  /** The refs that landed under their own names, with the values that they had before, which `undo` restores. */
  refs: z.array(ref).readonly().optional(),
  /** Refs that the runs changed, but that have not landed under their own names. */
  kept: z.array(keptRef).readonly().optional(),
  /** The indexes that changed, together with the checked-out branches or because paths were staged, and that `undo` restores. A branch without an entry is not moved back. */
  indexes: z.array(index).readonly().optional(),
  /**
   * The repositories that landed because the runs made them: their work trees, a text that says which refs they had, and the directories that were made for them,
   * which `undo` removes.
   */
  made: z
    .array(z.object({ path: z.string(), state: z.string(), directories: z.array(z.string()) }))
    .readonly()
    .optional(),
  /** Repositories that already had all commits of the session when it landed. */
  imported: z.array(z.string()).readonly().optional(),
  /** Repositories with commits of the session that could not land. */
  unlanded: z.array(z.string()).readonly().optional(),
  /**
   * The states of paths that landed while the view stayed open, and their states before the session. Later landings of these paths start from the landed
   * states. `no_merge`: as in a change.
   */
  applied: z
    .array(z.object({ root: z.string(), path: z.string(), before: side, side, no_merge: z.string().optional() }))
    .readonly()
    .optional(),
})

const state = settled.extend({
  /**
   * A landing or an undo, written before its transaction starts, with the state that it leads to. If the process is killed, `settleLanding` finds out
   * whether it happened: by the patch with this `id` in the journals of `root`, or, if no files are landed or restored, by the commits.
   */
  pending: z
    .object({
      does: z.enum(['land', 'undo']),
      root: z.string(),
      id: z.string().optional(),
      then: settled.pick({
        state: true,
        landings: true,
        commits: true,
        refs: true,
        kept: true,
        indexes: true,
        made: true,
        imported: true,
        unlanded: true,
        applied: true,
      }),
    })
    .optional(),
})

/** The state of a session's view. */
export type ViewState = z.infer<typeof state>

const stateFile = (directory: string): string => join(directory, 'transaction.json')

/** The state of a session's view; undefined for a session without one. */
export function readViewState(directory: string): ViewState | undefined {
  const file = stateFile(directory)
  if (!existsSync(file)) return undefined
  try {
    return state.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const message = `${file}: the state of this run's changes can't be read: ${(error as Error).message}`
    throw new UserError('usage', message, { cause: error })
  }
}

/** Stores the state atomically. */
export function writeViewState(directory: string, now: ViewState): void {
  const file = stateFile(directory)
  writeFileSync(`${file}.new`, `${JSON.stringify(now, undefined, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** What the earlier runs of a session landed. The state of a new view includes these landings, so that one undo reverts them together with the new ones. */
export function landedBefore(directory: string): Pick<ViewState, 'landings' | 'commits' | 'refs' | 'indexes' | 'made'> {
  const known = readViewState(directory)
  const landings = known?.landings.filter(({ undone }) => !undone) ?? []
  return {
    landings,
    ...(known?.commits && { commits: known.commits }),
    ...(known?.refs && { refs: known.refs }),
    ...(known?.indexes && { indexes: known.indexes }),
    ...(known?.made && { made: known.made }),
  }
}

/** The landings that are in the trees, newest first, which is the order in which they can be undone. */
export function landingsInTrees({ landings }: Pick<ViewState, 'landings'>): readonly NotedLanding[] {
  return landings.filter(({ undone }) => !undone).toReversed()
}

/** The state without what is known about landed commits and paths. */
export function withoutLanded(
  state: ViewState,
): Omit<ViewState, 'commits' | 'refs' | 'kept' | 'indexes' | 'made' | 'imported' | 'unlanded' | 'applied' | 'pending'> {
  const rest = { ...state }
  delete rest.commits
  delete rest.refs
  delete rest.kept
  delete rest.indexes
  delete rest.made
  delete rest.imported
  delete rest.unlanded
  delete rest.applied
  delete rest.pending
  return rest
}

/** Whether any changes that a session landed have been reverted since. */
export function isReverted(state: Pick<ViewState, 'landings'> | undefined): boolean {
  return state?.landings.some(({ undone }) => undone) === true
}

/** Whether everything that a session landed has been reverted since. */
export function isAllReverted(state: Pick<ViewState, 'landings'>): boolean {
  return isReverted(state) && landingsInTrees(state).length === 0
}

/** Returns the landings with a new one. Landings that were undone are left out. */
export function withLanding({ landings }: Pick<ViewState, 'landings'>, landing: NotedLanding): readonly NotedLanding[] {
  return [...landings.filter(({ undone }) => !undone), landing]
}

/** Returns the landings after the newest one has been undone. */
export function afterUndo({ landings }: Pick<ViewState, 'landings'>): readonly NotedLanding[] {
  const newest = landings.findLast(({ undone }) => !undone)
  return landings.map((each) => (each === newest ? { ...each, undone: true } : each))
}

/** How many paths were staged, according to what landings did to indexes. */
export function stagedIn(indexes: readonly KeptIndex[]): number {
  return indexes.reduce((sum, { staged = 0 }) => sum + staged, 0)
}
