import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { confiningBackend, factsOf, type Sandbox } from '../../sandbox/index.ts'
import type { Settings } from '../config/settings-schema.ts'
import { isInside } from '../core/directories-between.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import { UserError } from '../core/user-error.ts'
import type { Transaction } from '../run/run-options.ts'
import { interruptionBy, type Stop } from '../run/stop.ts'
import type { ChangeRecord } from '../transaction/change-record.ts'
import { notIgnored, patchFile } from '../transaction/change-record.ts'
import { findLosses } from '../transaction/find-losses.ts'
import { unlandedRepositories, type CommitsReport } from '../transaction/land-commits.ts'
import { closeView, land, type Landing } from '../transaction/land.ts'
import { removeLandedView } from '../transaction/remove-view.ts'
import type { PrivateView } from '../transaction/stored-view.ts'
import type { Strategy } from '../transaction/view-state.ts'
import { recordChanges } from '../transaction/record-changes.ts'
import type { Session } from '../session/session.ts'
import { changesOf } from './changes-in-view.ts'
import type { Outside } from './outside-effects.ts'
import { sandboxModeOf } from './modes.ts'
import type { RunRequest, TransactionRequest } from './run-request.ts'
import { findRepository } from './workspace.ts'

/** An open private view, and the session whose folder contains it. */
export type OpenTransaction = {
  readonly view: PrivateView
  readonly wish: TransactionWish
  readonly session: Session
  /** Whether an earlier run of the session worked in this view. */
  readonly resumed: boolean
  /** Functions to call once everything else in the run has been closed. */
  readonly whenClosed: (() => Promise<void>)[]
  /** Settles when it is known which files differed from git's index when the run began. */
  readonly noted: Promise<unknown>
}

/** How a run's view is made and landed. */
type TransactionWish = {
  /** How the view is made. Undefined: by the cheapest strategy that works. */
  readonly strategy: Strategy | undefined
  readonly land: NonNullable<TransactionRequest['land']>
  readonly landIgnored: boolean
  /** Where this program writes the final message; undefined if it doesn't. */
  readonly deliversTo: string | undefined
}

/** What a request says about the view. A command without a run has one, too. */
export type ViewedRequest = { readonly task: Pick<RunRequest['task'], 'type'> } & Pick<
  RunRequest,
  'transaction' | 'externallySandboxed' | 'deliversTo' | 'ownProcess' | 'start' | 'ephemeral' | 'source'
>

/** What decides whether there is a view, and of which trees. */
export type Viewed = {
  readonly request: ViewedRequest
  readonly settings: Settings
  readonly workspace: string
}

/**
 * How a run works on a view, from the request or else from the configuration; undefined if it works in the workspace itself: because it may not write, no
 * sandbox of ours confines it, its sandbox can't show a view, or the user asked for that.
 *
 * @throws UserError `usage` if the request has options for landing, but the run has no view
 */
export function viewOf(request: ViewedRequest, settings: Settings): TransactionWish | undefined {
  const asked = request.transaction ?? {}
  const reason = whyInPlace(request, settings)
  if (reason !== undefined) {
    const { strategy, land } = asked
    if (sandboxModeOf(settings) === 'read-only' || (strategy ?? land) === undefined) return undefined
    throw new UserError('usage', `${reason}, so there is no view to make or to land: leave out --view and --land.`)
  }
  const strategy = asked.strategy ?? settings.view
  return {
    strategy: strategy === 'auto' ? undefined : strategy,
    land: asked.land ?? 'on-success',
    landIgnored: asked.landIgnored !== false,
    deliversTo: request.deliversTo,
  }
}

function whyInPlace({ task, transaction, externallySandboxed }: ViewedRequest, settings: Settings): string | undefined {
  const mode = sandboxModeOf(settings)
  if (mode === 'read-only') return 'The run may not write'
  if (externallySandboxed === true) return '--externally-sandboxed runs commands in the workspace itself'
  if (mode === 'danger-full-access') return 'Without a sandbox, commands run in the workspace itself'
  if (transaction?.inPlace ?? settings.in_place) return 'The run works in the workspace itself (in_place)'
  if (task.type === 'calls') return 'Calls without a model work in the workspace itself'
  return factsOf(settings.sandbox_backend ?? confiningBackend()).hasViews
    ? undefined
    : "This sandbox can't show commands a view"
}

/**
 * Returns the trees that get a view: the repositories that contain the writable paths, and each writable path that is in no repository. A tree inside
 * another of these trees gets no view of its own.
 */
export function treesOf(roots: readonly string[]): readonly string[] {
  const trees = roots.flatMap((root) => {
    const real = realOrUndefined(root)
    return real === undefined ? [] : [findRepository(real) ?? real]
  })
  return [...new Set(trees)].filter((tree) => !trees.some((other) => other !== tree && isInside(tree, other)))
}

function realOrUndefined(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    // A missing directory is refused later, when the sandbox is opened.
    return undefined
  }
}

type TransactionEnd = { readonly stop?: Stop; readonly report: TransactionReport }

/**
 * The functions with which the main loop handles a run's private view: they list the changes in it and land those that should land.
 *
 * @param begins called when the changes are about to land
 */
export function runTransaction(
  { view, wish, resumed, whenClosed, noted }: OpenTransaction,
  sandbox: Sandbox,
  { possible, happened }: Outside,
  begins?: () => void,
): Omit<Transaction, 'land'> & { land(...how: Parameters<Transaction['land']>): Promise<TransactionEnd> } {
  let recorded: Promise<ChangeRecord> | undefined
  const record = (): Promise<ChangeRecord> =>
    (recorded ??= noted.then(() => recordChanges(view, sandbox, wish.landIgnored, wish.deliversTo)))
  return {
    facts: {
      strategy: view.state.strategy,
      roots: view.views.map(({ path }) => path),
      land: wish.land,
      ...(possible.length === 0 ? {} : { outside: [...possible] }),
      ...(resumed ? { resumed: true as const } : {}),
    },
    changes: (patched) => ({
      begin: async () => undefined,
      // If the changes can't be listed, this returns only the reason instead of throwing, because landing fails later and reports the error.
      settle: () =>
        record().then(
          (known) => changesOf(view.directory, known, patched()),
          (error: Error) => ({ files: [], runsLater: [], notCounted: error.message }),
        ),
    }),
    // Who asked for `always` or `never` has decided already. If the changes can't be listed, landing fails later and reports the error.
    losses: async () =>
      wish.land === 'on-success'
        ? record().then(
            (known) => findLosses(view.directory, known),
            () => [],
          )
        : [],
    land: async (stop, signal) => {
      const known = await record()
      const wanted = wish.land === 'always' || (wish.land === 'on-success' && stop === undefined)
      if (wanted) begins?.()
      // With `always`, the changes land even if a signal has ended the run.
      const stopping = wish.land === 'always' && signal.aborted ? undefined : signal
      const landing = wanted ? await land(view.directory, known, { commits: true, signal: stopping }) : undefined
      const isIn = landing?.type === 'landed' || landing?.type === 'nothing'
      const report = {
        ...reportOf(view, wish, known, landing, isIn ? landing.commits : undefined),
        outside: [...happened()],
      }
      // What was left out stays in the view, in which the session can go on.
      if (isIn && known.blocked.length === 0) {
        closeView(view.directory, 'landed')
        const remove = (): Promise<void> => removeLandedView(view.directory)
        // Overlays are removed only after the sandbox is closed, because closing the sandbox examines the mounted views.
        await (view.overlays.length > 0 ? whenClosed.push(remove) : remove())
      }
      if (landing?.type === 'interrupted') {
        const { reason, message } = interruptionBy(signal)
        return { report, stop: { reason, message: `${message} Nothing was landed. ${keptIn(view)}.` } }
      }
      const message = failureOf(landing, view)
      return message === undefined ? { report } : { report, stop: { reason: 'failed', message } }
    },
  }
}

function failureOf(landing: Landing | undefined, view: PrivateView): string | undefined {
  const patch = patchFile(view.directory)
  const kept = keptIn(view)
  if (landing?.type === 'failed') {
    const state = landing.tree === 'unchanged' ? kept : `The patch is in ${patch}`
    return `The run's changes could not be landed. ${landing.message} ${state}`
  }
  if (landing?.type !== 'conflict') return undefined
  const [first, ...others] = landing.conflicts
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `Nothing was landed: ${first?.path ?? ''}: ${first?.why ?? ''}${more}. ${kept}`
}

function keptIn(view: PrivateView): string {
  return `The tree is unchanged, and the patch is in ${patchFile(view.directory)}`
}

/** The maximum number of entries in a list of the report. Longer lists are truncated. */
const mostNamed = 200

function reportOf(
  view: PrivateView,
  wish: TransactionWish,
  record: ChangeRecord,
  landing: Landing | undefined,
  commits: CommitsReport | undefined,
): Omit<TransactionReport, 'outside'> {
  const { landed = [], refs = [], kept = [], failed = [], complete = [] } = commits ?? {}
  const imported = [...complete, ...refs.map(({ path }) => path)]
  const id = basename(view.directory)
  const unlanded = failed.map(({ path }) => path)
  const conflicts = landing?.type === 'conflict' ? landing.conflicts : []
  const notes = landing?.type === 'landed' ? landing.notes : []
  return {
    strategy: view.state.strategy,
    outcome: landing === undefined || landing.type === 'interrupted' ? 'kept' : landing.type,
    ...(landing?.type === 'failed' && landing.tree !== 'unchanged' ? { tree: landing.tree } : {}),
    files: notIgnored(record).length,
    merged: landing?.type === 'landed' ? landing.merged.slice(0, mostNamed) : [],
    commits: landed.map((each) => ({ ...each })),
    ...(refs.length === 0 ? {} : { refs: refs.slice(0, mostNamed).map((each) => ({ ...each })) }),
    ...(kept.length === 0 ? {} : { refs_not_landed: kept.slice(0, mostNamed).map((each) => ({ ...each })) }),
    repositories: unlandedRepositories({ commits: landed, imported, unlanded }, record)
      .slice(0, mostNamed)
      .map(({ path, kept: place, refs: changed }) => ({
        path,
        kept: place,
        ...(changed && { refs: changed.slice(0, mostNamed).map(({ name }) => name) }),
        ...(failed.find((each) => each.path === path) ?? {}),
      })),
    conflicts: conflicts.slice(0, mostNamed).map(({ path, why }) => ({ path, why })),
    ignored: { ...record.ignored, landed: wish.landIgnored && landing?.type === 'landed' },
    not_landed: [...record.protected, ...record.special].slice(0, mostNamed),
    ...(record.blocked.length === 0 ? {} : { left_out: record.blocked.slice(0, mostNamed) }),
    can_undo:
      (landing?.type === 'landed' && landing.canUndo) ||
      (landing?.type === 'nothing' && landed.length + refs.length > 0),
    ...(notes.length === 0 ? {} : { notes: notes.slice(0, mostNamed) }),
    run: id,
    patch: patchFile(view.directory),
  }
}
