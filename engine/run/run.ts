import { ChangeWatch, type ChangeSource } from '../core/changes/change-watch.ts'
import type { RunSummary } from '../core/events.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import type { Rollout } from '../session/rollout.ts'
import type { Session } from '../session/session.ts'
import { CallTally } from '../tools/call-tally.ts'
import { closeWorkingState } from '../tools/working-state.ts'
import { announce } from './announce.ts'
import { followConnections } from './follow-connections.ts'
import { BudgetWatch } from './budget-watch.ts'
import { callPath } from './call-path.ts'
import { watchEnding } from './watch-ending.ts'
import { sandboxStatusOf, closingOf } from '../core/sandbox-status.ts'
import { Conversation } from './conversation.ts'
import { converse } from './converse.ts'
import { endedBlank } from './count-empty-answers.ts'
import type { Closing, Conclusion } from './closing.ts'
import { Recorder } from './recorder.ts'
import { makeRunContext } from './make-run-context.ts'
import { estimateTokensOfText } from './estimate-tokens.ts'
import type { RunOptions } from './run-options.ts'
import type { Transaction } from './transaction.ts'
import { takeCalls } from './serve-calls.ts'
import { landBetween } from './land-between.ts'
import { whyKept } from './why-kept.ts'
import { faultOf, type Stop } from './stop.ts'

/**
 * Runs a model on a task, in a loop of request, calls and results, until the model makes no more calls or the run is stopped. With `serve`, no model
 * runs; the calls come from a client. The run always ends with exactly one terminal event. Returns the summary of the run. Nothing that a model, a
 * provider or a command does makes this function throw.
 */
export async function run(options: RunOptions): Promise<RunSummary> {
  const { session } = options
  const recorder = new Recorder(
    options.sinks,
    options.resumedFrom,
    (bytes) => keepIfPossible(session, bytes),
    sandboxStatusOf(options.sandbox),
    options.changes === undefined ? options.workspace : undefined,
    options.environment,
  )
  const budget = new BudgetWatch(options.budget, options.factsOf, (spent) => recorder.spent(spent))
  // The changes of a sub-agent are tracked by its parent run.
  const changes: ChangeSource =
    options.changes ??
    options.transaction?.changes(() => recorder.patched) ??
    new ChangeWatch(() => recorder.patched, session.directory, options.workspace)
  const ending = watchEnding(options, recorder, changes)
  let closing: Closing | undefined
  let stop: Stop | undefined
  options.began?.(({ reason, message }) => recorder.end(reason, message))
  try {
    announce(options, recorder)
    session.rollout.append({ type: 'run', at: new Date().toISOString(), model: options.model.name })
    const { declarations } = options.tools
    const fixed = estimateTokensOfText(`${options.instructions}${JSON.stringify(declarations)}`)
    const conversation = new Conversation(session.rollout, options.resumedFrom, fixed)
    const running = { recorder, budget, conversation, changes, tally: new CallTally(options.tally) }
    const guardian = options.guard(makeRunContext(options, running))
    const connections = followConnections(options, recorder, guardian)
    const path = callPath(options, guardian, running)
    try {
      if (options.serve === undefined)
        stop = (await converse(options, path, running)) ?? endedBlank(recorder.finalMessage)
      else await options.serve(takeCalls(path, landBetween(options, guardian, path.context.state)))
    } finally {
      // What the agents' commands did is part of what the run's end says, and nothing may change any more when its changes land.
      await options.delegates?.close()
      await closeWorkingState(path.context.state)
    }
    stop ??= await whyNotJudged(options)
    if (options.serve === undefined) {
      options.hooks?.within(undefined)
      await options.hooks?.end(stop?.reason ?? 'done', stop?.message)
    }
    stop ??= (await ending()).stop
    stop ??= await whyKept(options, guardian)
    closing = { auditHead: connections.lastHead() }
    // The end of a transactional run is recorded after its changes have been applied, because a failure to apply them changes how the run ends.
    if (options.transaction === undefined) noteEnd(session.rollout, stop)
  } catch (error) {
    // A reason that already stopped the run takes precedence, because it may have caused this failure.
    stop ??= faultOf(error)
  } finally {
    budget.close()
  }
  const undelivered = options.deliver?.(recorder.finalMessage)
  if (undelivered !== undefined) stop ??= { reason: 'failed', message: undelivered }
  const landed = await land(options, stop)
  stop ??= landed.stop
  const ended = await ending()
  options.connections?.end()
  const facts: Closing = {
    ...closing,
    ...ended.closing,
    ...(landed.report === undefined ? {} : { transaction: withCost(landed.report, budget.cost) }),
    cost: budget.cost,
    ...closingOf(options.sandbox),
  }
  for (const why of await unreported(options, recorder.conclude(stop?.reason ?? 'done', stop?.message, facts))) {
    if (stop === undefined) stop = { reason: 'failed', message: why }
    else recorder.complete({ type: 'error', message: why })
  }
  return recorder.end(stop?.reason ?? 'done', stop?.message, facts)
}

/** Writes the reports of a run. Returns why some could not be written. */
async function unreported({ report }: RunOptions, conclusion: Conclusion): Promise<readonly string[]> {
  try {
    return (await report?.(conclusion)) ?? []
  } catch (error) {
    return [faultOf(error).message]
  }
}

/** Returns why nothing lands, if the changes are no longer those that were judged. */
async function whyNotJudged({ verify, judge }: RunOptions): Promise<Stop | undefined> {
  const message = verify === undefined ? undefined : await judge?.whyOthers()
  return message === undefined ? undefined : { reason: 'failed', message }
}

/** Applies the changes of a transactional run to the workspace, if the user wants that. If this fails, the run fails. */
async function land(
  { transaction, session, signal }: RunOptions,
  stop: Stop | undefined,
): Promise<Awaited<ReturnType<Transaction['land']>>> {
  if (transaction === undefined) return {}
  try {
    const landed = await transaction.land(stop, signal)
    noteEnd(session.rollout, stop ?? landed.stop)
    return landed
  } catch (error) {
    return { stop: faultOf(error) }
  }
}

/** Adds the run's cost to the effects outside the transaction, because the cost is due whether or not the changes are applied. */
function withCost(report: TransactionReport, cost: number | undefined): TransactionReport {
  if (cost === undefined || cost === 0) return report
  const what = `$${Number(cost.toPrecision(4))}`
  return { ...report, outside: [...report.outside, { kind: 'money', what }] }
}

/**
 * Stores the full text of an event that is too long for one line of the output. If that fails, for example because the disk is full, only the
 * shortened event is kept.
 */
function keepIfPossible(session: Session, bytes: Uint8Array): string | undefined {
  try {
    return session.keepOutput(bytes)
  } catch {
    return undefined
  }
}

function noteEnd(rollout: Rollout, stop: Stop | undefined): void {
  const message = stop === undefined ? {} : { message: stop.message }
  rollout.append({ type: 'end', at: new Date().toISOString(), reason: stop?.reason ?? 'done', ...message })
  rollout.sync()
}
