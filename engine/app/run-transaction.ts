import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { gitDirectoriesOf, runBranch, runsLater, type Sandbox } from '../../sandbox/index.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { Changes } from '../core/changes/change-watch.ts'
import { isInside } from '../core/directories-between.ts'
import { UserError } from '../core/user-error.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import type { Transaction } from '../run/run-options.ts'
import { interruptionBy } from '../run/stop.ts'
import type { ChangeRecord } from '../transaction/change-record.ts'
import { patchFile } from '../transaction/change-record.ts'
import { unlandedRepositories, type CommitsReport } from '../transaction/land-commits.ts'
import { whatHelps } from '../transaction/blocked-changes.ts'
import { closeView, land, type Landing } from '../transaction/land.ts'
import { removeLandedView } from '../transaction/remove-view.ts'
import type { PrivateView } from '../transaction/stored-view.ts'
import { readViewState, type Strategy } from '../transaction/view-state.ts'
import { recordChanges } from '../transaction/record-changes.ts'
import type { Session } from '../session/session.ts'
import type { Beginning } from '../session/start-session.ts'
import type { Outside } from './outside-effects.ts'
import type { TransactionRequest } from './run-request.ts'
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

/** The settings of a run that is a transaction. */
type TransactionWish = {
  /** How the view is made. Undefined: by the cheapest strategy that works. */
  readonly strategy: Strategy | undefined
  readonly land: NonNullable<TransactionRequest['land']>
  readonly landIgnored: boolean
  readonly landCommits: boolean
}

/** How the view of the session that a run resumes or forks was made; undefined if there is no such session, or if it had no view. */
export function strategyBefore({ earlier }: Beginning): Strategy | undefined {
  return earlier === undefined ? undefined : readViewState(earlier)?.strategy
}

/**
 * Returns the transaction settings of a run, from the request or else from the configuration; undefined if the run isn't a transaction.
 *
 * @param before how the view of the session that the run continues was made; undefined if there is none. A run that resumes or forks a session with a
 *   view is always a transaction
 * @throws UserError `usage` if the request has options for landing but isn't a transaction
 */
export function requestedTransaction(
  asked: TransactionRequest | undefined,
  { transactional }: Settings,
  before: Strategy | undefined,
): TransactionWish | undefined {
  const strategy =
    asked?.strategy ?? (transactional === true ? 'auto' : transactional === false ? undefined : transactional)
  if (strategy === undefined && before === undefined) {
    if (asked === undefined) return undefined
    throw new UserError(
      'usage',
      '--land, --land-ignored and --land-commits are options of a transaction: add --transactional, or leave them out.',
    )
  }
  return {
    strategy: strategy === 'auto' ? undefined : (strategy ?? before),
    land: asked?.land ?? 'on-success',
    landIgnored: asked?.landIgnored === true,
    landCommits: asked?.landCommits === true,
  }
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
): Transaction {
  let recorded: Promise<ChangeRecord> | undefined
  const record = (): Promise<ChangeRecord> =>
    (recorded ??= noted.then(() => recordChanges(view, sandbox, wish.landIgnored)))
  return {
    facts: {
      strategy: view.state.strategy,
      roots: view.views.map(({ path }) => path),
      land: wish.land,
      ...(possible.length === 0 ? {} : { outside: [...possible] }),
      ...(resumed ? { resumed: true as const } : {}),
    },
    changes: {
      begin: async () => undefined,
      // If the changes can't be listed, this returns only the reason instead of throwing, because landing fails later and reports the error.
      settle: () =>
        record().then(changesOf, (error: Error) => ({ files: [], runsLater: [], notCounted: error.message })),
    },
    land: async (stop, signal) => {
      const known = await record()
      const wanted = wish.land === 'always' || (wish.land === 'on-success' && stop === undefined)
      if (wanted) begins?.()
      // With `always`, the changes land even if a signal has ended the run.
      const stopping = wish.land === 'always' && signal.aborted ? undefined : signal
      const commits = { move: wish.landCommits }
      const landing = wanted ? await land(view.directory, known, { commits, signal: stopping }) : undefined
      const isIn = landing?.type === 'landed' || landing?.type === 'nothing'
      const report = {
        ...reportOf(view, wish, known, landing, isIn ? landing.commits : undefined),
        outside: [...happened()],
      }
      if (isIn) {
        closeView(view.directory, 'landed')
        const remove = (): Promise<void> => removeLandedView(view.directory)
        // Overlays are removed only after the sandbox is closed, because closing the sandbox examines the mounted views.
        await (view.overlays.length > 0 ? whenClosed.push(remove) : remove())
      }
      if (landing?.type === 'interrupted') {
        const { reason, message } = interruptionBy(signal)
        return { report, stop: { reason, message: `${message} Nothing was landed. ${keptIn(view)}.` } }
      }
      const message = failureOf(landing, view, known)
      return message === undefined ? { report } : { report, stop: { reason: 'failed', message } }
    },
  }
}

function failureOf(landing: Landing | undefined, view: PrivateView, { blocked }: ChangeRecord): string | undefined {
  const patch = patchFile(view.directory)
  const kept = keptIn(view)
  if (landing?.type === 'failed') {
    const state = landing.tree === 'unchanged' ? kept : `The patch is in ${patch}`
    return `The run's changes could not be landed. ${landing.message} ${state}`
  }
  if (landing?.type !== 'conflict') return undefined
  const [first, ...others] = landing.conflicts
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  const help = landing.conflicts === blocked ? `. ${whatHelps(basename(view.directory))}` : ''
  return `Nothing was landed: ${first?.path ?? ''}: ${first?.why ?? ''}${more}. ${kept}${help}`
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
    files: record.changes.length,
    merged: landing?.type === 'landed' ? landing.merged.slice(0, mostNamed) : [],
    commits: landed.map((each) => ({ ...each })),
    ...(refs.length === 0 ? {} : { refs: refs.slice(0, mostNamed).map((each) => ({ ...each })) }),
    ...(kept.length === 0 ? {} : { refs_not_landed: kept.slice(0, mostNamed).map((each) => ({ ...each })) }),
    repositories: unlandedRepositories({ commits: landed, imported, unlanded }, record)
      .slice(0, mostNamed)
      .map(({ path, kept: place, refs: changed }) => ({
        path,
        kept: place,
        branch: runBranch(gitDirectoriesOf(path), id),
        ...(changed && { refs: changed.slice(0, mostNamed).map(({ name }) => name) }),
        ...(failed.find((each) => each.path === path) ?? {}),
      })),
    conflicts: conflicts.slice(0, mostNamed).map(({ path, why }) => ({ path, why })),
    ignored: { ...record.ignored, landed: wish.landIgnored && landing?.type === 'landed' },
    not_landed: [...record.protected, ...record.special].slice(0, mostNamed),
    can_undo:
      (landing?.type === 'landed' && landing.canUndo) ||
      (landing?.type === 'nothing' && landed.length + refs.length > 0),
    ...(notes.length === 0 ? {} : { notes: notes.slice(0, mostNamed) }),
    run: id,
    patch: patchFile(view.directory),
  }
}

function changesOf(record: ChangeRecord): Changes {
  const files = record.changes
    .filter(({ before, after }) => before.type !== 'directory' && after.type !== 'directory')
    .map(({ root, path, before, after }) => ({
      root,
      path: `${root}/${path}`,
      kind: before.type === 'absent' ? 'add' : after.type === 'absent' ? 'delete' : 'update',
    }))
  return {
    files: files.map(({ path, kind }) => ({ path, kind })),
    runsLater: files.flatMap(({ root, path, kind }) => {
      const program = runsLater(path, root)
      return program === undefined ? [] : [{ path, kind, program }]
    }),
    notCounted: undefined,
  }
}
