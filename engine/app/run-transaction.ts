import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { confiningBackend, factsOf, homeDirectory, type Sandbox } from '../../sandbox/index.ts'
import { rootsOf } from '../config/configured-policy.ts'
import type { Settings } from '../config/settings-schema.ts'
import { isInside } from '../core/directories-between.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import { UserError } from '../core/user-error.ts'
import type { Transaction } from '../run/transaction.ts'
import { interruptionBy, type Stop } from '../run/stop.ts'
import type { ChangeRecord } from '../transaction/change-record.ts'
import { findLosses } from '../transaction/find-losses.ts'
import { closeView, land, type Landing } from '../transaction/land.ts'
import { removeLandedView } from '../transaction/remove-view.ts'
import type { PrivateView } from '../transaction/stored-view.ts'
import type { Strategy } from '../transaction/view-state.ts'
import { recordChanges } from '../transaction/record-changes.ts'
import type { Session } from '../session/session.ts'
import { changesOf } from './changes-in-view.ts'
import { isLanded, openEachLanding } from './land-each.ts'
import type { Outside } from './outside-effects.ts'
import { sandboxModeOf } from './modes.ts'
import type { RunRequest, TransactionRequest } from './run-request.ts'
import { failureOf, keptIn, reportOf } from './transaction-report.ts'
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
    // Who makes the calls also works in the workspace itself, and must find there what a call has done.
    land: asked.land ?? (request.task.type === 'calls' ? 'each' : 'on-success'),
    landIgnored: asked.landIgnored !== false,
  }
}

function whyInPlace({ transaction, externallySandboxed }: ViewedRequest, settings: Settings): string | undefined {
  const mode = sandboxModeOf(settings)
  if (mode === 'read-only') return 'The run may not write'
  if (externallySandboxed === true) return '--externally-sandboxed runs commands in the workspace itself'
  if (mode === 'danger-full-access') return 'Without a sandbox, commands run in the workspace itself'
  if (transaction?.inPlace ?? settings.in_place) return 'The run works in the workspace itself (in_place)'
  return factsOf(settings.sandbox_backend ?? confiningBackend()).hasViews
    ? undefined
    : "This sandbox can't show commands a view"
}

/**
 * Returns the trees that get a view: the repositories that contain the writable paths, and each writable path that is in no repository. A tree inside
 * another of these trees gets no view of its own.
 */
export function treesOf(roots: readonly string[]): readonly string[] {
  const trees = realRoots(roots).map((real) => findRepository(real) ?? real)
  return [...new Set(trees)].filter((tree) => !trees.some((other) => other !== tree && isInside(tree, other)))
}

/** The files with secrets that commands of a run without a view aren't shown. None where no sandbox of ours confines commands. */
export async function withheldInPlace({ request, settings, workspace }: Viewed): Promise<readonly string[]> {
  if (request.externallySandboxed === true || sandboxModeOf(settings) === 'danger-full-access') return []
  const { secretsInPlace } = await import('../transaction/secrets-in-place.ts')
  return secretsInPlace(treesOf(rootsOf(settings, workspace)), shownIn(settings))
}

/** Those of these paths that exist, without symlinks. */
export function realRoots(roots: readonly string[]): readonly string[] {
  return roots.flatMap((root) => realOrUndefined(root) ?? [])
}

/** The paths that the user wants to show although files there hold secrets. */
export function shownIn(settings: Settings): readonly string[] {
  return (settings.sandbox_read?.allow ?? []).flatMap((path) => {
    const absolute = path.startsWith('~/') ? join(homeDirectory(), path.slice(2)) : path
    // A file keeps its own name, even if that is a link.
    const real = realOrUndefined(dirname(absolute))
    return [...new Set([absolute, ...(real === undefined ? [] : [join(real, basename(absolute))])])]
  })
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
  { view: opened, wish, resumed, whenClosed, noted }: OpenTransaction,
  sandbox: Sandbox,
  { possible, happened }: Outside,
  begins?: () => void,
): Omit<Transaction, 'land'> & { land(...how: Parameters<Transaction['land']>): Promise<TransactionEnd> } {
  const each = wish.land === 'each' ? openEachLanding(opened) : undefined
  const view = each?.view ?? opened
  let recorded: Promise<ChangeRecord> | undefined
  const record = (): Promise<ChangeRecord> => (recorded ??= noted.then(() => recordChanges(view, sandbox)))

  /** Lands the recorded changes if they should land. */
  const landRecorded = async (
    stop: Stop | undefined,
    signal: AbortSignal,
  ): Promise<TransactionEnd & { readonly known: ChangeRecord; readonly landing: Landing | undefined }> => {
    const known = await record()
    const wanted = wish.land === 'always' || (wish.land !== 'never' && stop === undefined)
    if (wanted) begins?.()
    // With `always`, the changes land even if a signal has ended the run.
    const stopping = wish.land === 'always' && signal.aborted ? undefined : signal
    const landing = wanted ? await land(view.directory, known, { commits: true, signal: stopping }) : undefined
    const report = {
      ...reportOf(view, wish.landIgnored, known, landing, isLanded(landing) ? landing.commits : undefined),
      outside: [...happened()],
    }
    if (landing?.type === 'interrupted') {
      const { reason, message } = interruptionBy(signal)
      const kept = { reason, message: `${message} Nothing was landed. ${keptIn(view)}.` }
      return { known, landing, report, stop: kept }
    }
    const message = failureOf(landing, view)
    return { known, landing, report, ...(message === undefined ? {} : { stop: { reason: 'failed', message } }) }
  }

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
          (known) => changesOf(view.directory, each?.together(known) ?? known, patched()),
          (error: Error) => ({ files: [], runsLater: [], notCounted: error.message }),
        ),
    }),
    // Who asked for `always` or `never` has decided already. If the changes can't be listed, landing fails later and reports the error.
    losses: async () =>
      wish.land === 'on-success' || wish.land === 'each'
        ? record().then(
            (known) => findLosses(view.directory, each?.toOthers(known) ?? known),
            () => [],
          )
        : [],
    ...(each === undefined
      ? {}
      : {
          between: {
            refresh: each.refresh,
            land: async (stop, signal) => {
              each.begin()
              try {
                const { known, landing, ...end } = await landRecorded(stop, signal)
                await each.note(known, landing, end.report)
                return end
              } finally {
                recorded = undefined
              }
            },
          },
        }),
    land: async (stop, signal) => {
      const { known, landing, report, ...end } = await landRecorded(stop, signal)
      // What was left out stays in the view, in which the session can go on.
      if (isLanded(landing) && known.blocked.length === 0) {
        closeView(view.directory, 'landed')
        const remove = (): Promise<void> => removeLandedView(view.directory)
        // Overlays are removed only after the sandbox is closed, because closing the sandbox examines the mounted views.
        await (view.overlays.length > 0 ? whenClosed.push(remove) : remove())
      }
      return { ...end, report: each?.end(known, report) ?? report }
    },
  }
}
