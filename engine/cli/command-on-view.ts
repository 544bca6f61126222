import { rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { transactionsInProgress } from '../../apply-patch/index.ts'
import { Closing } from '../app/closing.ts'
import { enterOverlay } from '../app/enter-overlay.ts'
import { openTransaction } from '../app/open-transaction.ts'
import { runTransaction, viewOf, withheldInPlace, type ViewedRequest } from '../app/run-transaction.ts'
import { rootsOf } from '../config/configured-policy.ts'
import { defaultSandbox } from '../config/defaults.ts'
import { findAppPaths, stateFor } from '../core/app-paths.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { UserError } from '../core/user-error.ts'
import { notShownWords } from '../core/text/not-shown.ts'
import { landedWell, landedWhole, transactionLines } from '../core/text/transaction-lines.ts'
import { prepareStart } from '../session/start-session.ts'
import type { CopyLimit } from '../transaction/copy-limit.ts'
import { leaveOnlyAfter } from './interrupts.ts'
import { ownProcess } from './own-process.ts'
import type { ShownViews } from './policy-from-options.ts'
import type { Commanded, CommandLanding, SandboxOptions } from './sandbox-options.ts'
import { makeDirectories, type Sandbox } from '../../sandbox/index.ts'

/**
 * Up to which size a tree is copied for a single command. Copying more would take longer than many commands do; an overlay, which copies nothing, is then made
 * instead where one is possible.
 */
const copied: CopyLimit = { files: 4000, bytes: 100_000_000 }

/** The views that a command is shown, if there are any, and what lands from them. */
type OnView = {
  readonly shown: ShownViews
  /** Where what didn't land is, for whoever ends the program at once. */
  readonly abandoned?: string
  /** What the command isn't shown, in words; undefined if that is nothing. */
  readonly notShown: string | undefined
  readonly land?: (sandbox: Sandbox, isDone: boolean, signal: AbortSignal) => Promise<CommandLanding>
}

/**
 * Runs a command on a private view of the workspace and of the other directories that it may write to, unless the user or its sandbox rules that out. The view is
 * a session, which stays if something landed, so that it can be undone, or if something didn't.
 *
 * @param run runs the command on the view; without a view if there is none
 * @returns what `run` returns
 * @throws UserError as `enterOverlay` and `openTransaction`; also the errors of `run`
 */
export async function commandOnView(
  { options, config, workspace }: Commanded,
  run: (onView: OnView | undefined) => Promise<number>,
): Promise<number> {
  const { backend, land = 'each' } = options
  if (backend === 'unconfined') {
    // Refuses options for a view.
    viewOf(requestFrom(options), { sandbox_mode: 'danger-full-access' })
    return run(undefined)
  }
  const file = options.writable.find((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
  if (land !== 'each' && file !== undefined) {
    const why = 'only directories have a view, so what the command writes to this file is there at once'
    throw new UserError(
      'usage',
      `--writable ${file} with --land ${land}: ${why}. Name its directory, or leave out --land.`,
    )
  }
  const settings = {
    ...config,
    sandbox_mode: options.sandbox ?? defaultSandbox,
    sandbox_workspace_write: {
      ...config.sandbox_workspace_write,
      writable_roots: [...rootsOf(config, workspace).slice(1), ...options.writable.map((path) => resolve(path))].filter(
        isDirectory,
      ),
    },
    sandbox_read: {
      ...config.sandbox_read,
      allow: [
        ...(config.sandbox_read?.allow ?? []),
        ...[...options.readable, ...options.allowRead].map((path) => resolve(path)),
      ],
    },
    ...(backend === undefined ? {} : { sandbox_backend: backend }),
  }
  const { state } = findAppPaths(process.env)
  const folder = stateFor(rootsOf(settings, workspace), state)
  const wished = requestFrom(options)
  const request = { ...wished, ephemeral: viewOf(wished, settings) !== undefined && !canStore(folder) }
  const beginning = prepareStart({ type: 'new' }, folder, workspace, request.ownProcess?.startedFor)
  const closing = new Closing()
  let isUsed = false
  let opened: Awaited<ReturnType<typeof openTransaction>>
  try {
    const noOverlay = await enterOverlay({ request, settings, workspace }, beginning, closing, copied)
    opened = await openTransaction({ request, settings, workspace, beginning, noOverlay }, closing)
    if (opened === undefined) {
      const withheld = await withheldInPlace({ request, settings, workspace })
      return await run({ shown: { views: [], withheld }, notShown: notShownWords(withheld, workspace) })
    }
    const { view } = opened
    const wish = { ...opened.wish, land: land === 'each' ? ('always' as const) : land }
    const onView = { ...opened, wish }
    const isPassing = request.ephemeral === true
    leaveOnlyAfter(transactionsInProgress)
    return await run({
      abandoned: isPassing
        ? `what the command changed and did not land is lost: nothing can be stored in ${folder}`
        : `what the command changed and did not land is kept: agent changes ${beginning.threadId}`,
      shown: { views: view.views, withheld: [view.directory] },
      notShown: notShownWords(view.state.not_shown ?? [], workspace),
      land: async (sandbox, isDone, signal) => {
        // If the landing fails, what the command did is in the session.
        isUsed = true
        const transaction = runTransaction(onView, sandbox, { possible: [], happened: () => [] })
        const { report, stop } = await transaction.land(isDone ? undefined : failedCommand, signal)
        const told = { transaction: { ...report, outside: [] } }
        const isStopped = stop?.reason === 'interrupted' || stop?.reason === 'terminated'
        const hasFailed = report.outcome !== 'kept' && !landedWell(told)
        const isLost = !landedWell(told) && isPassing
        const lines = isLost
          ? [stop?.message ?? 'nothing was landed', `what it changed is lost: nothing can be stored in ${folder}`]
          : [
              ...((report.outcome === 'failed' || isStopped) && stop !== undefined ? [stop.message] : []),
              ...(landedWhole(told) ? [] : transactionLines(told, asIs)),
            ]
        isUsed = report.outcome !== 'nothing' || lines.length > 0
        const code = isStopped ? exitCodes[stop.reason] : hasFailed ? exitCodes.failed : exitCodes.done
        return { report: told.transaction, lines, code }
      },
    })
  } finally {
    await closing.close()
    if (opened !== undefined && !isUsed) rmSync(opened.session.directory, { recursive: true, force: true })
  }
}

/** The command as the run that it would be. */
function requestFrom({ view, land, inPlace, externallySandboxed }: SandboxOptions): ViewedRequest {
  return {
    task: { type: 'prompt' },
    start: { type: 'new' },
    source: 'agent sandbox',
    ownProcess: ownProcess(),
    transaction: {
      ...(view === undefined ? {} : { strategy: view }),
      ...(land === undefined ? {} : { land: land === 'never' ? land : 'always' }),
      ...(inPlace === undefined ? {} : { inPlace }),
    },
    ...(externallySandboxed === undefined ? {} : { externallySandboxed }),
  }
}

const failedCommand = { reason: 'failed', message: 'The command failed.' } as const

/** Whether sessions can be stored in a state folder. */
function canStore(folder: string): boolean {
  try {
    makeDirectories(join(folder, 'sessions'))
    return true
  } catch {
    return false
  }
}

const asIs = (path: string): string => path

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
