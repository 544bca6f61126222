import process from 'node:process'
import { configure } from '../app/load-run.ts'
import { openRun } from '../app/open-run.ts'
import type { Run, RunRequest } from '../app/run-request.ts'
import { eventJsonSchema } from '../core/event-schema.ts'
import { exitCodes } from '../core/exit-codes.ts'
import type { Model } from '../core/model.ts'
import { interruptionBy } from '../run/stop.ts'
import type { Start } from '../session/start-session.ts'
import { askToLand, keptForAnswer } from './ask-to-land.ts'
import { chooseSinks } from './choose-sinks.ts'
import type { ExecOptions, ReviewOptions } from './exec-options.ts'
import { catchInterrupts, holdSignals, whileLanding, type Interruption } from './interrupts.ts'
import { ownProcess } from './own-process.ts'
import { printFinalMessage } from './print-final-message.ts'
import { runRequest } from './request-from-options.ts'
import { openRunReports } from './run-reports.ts'
import { showContext } from './show-context.ts'
import { tellFailure, type Progress } from './report-startup-failure.ts'
import { useProxyFromEnvironment } from './use-proxy.ts'
import { watchTimeLimit } from './time-limit.ts'
import { printJsonText } from './print.ts'

/**
 * `agent exec`: turns a command line into a request, runs it, and directs the run's events to the outputs. With `--print-event-schema` or
 * `--show-context`, it only prints what these options ask for.
 *
 * @param review the change to review; undefined for a task
 * @param model the model to use; undefined: the one that the configuration and the options name
 * @returns the exit code
 * @throws UserError for problems that the user has to fix. Unless `progress.ended` was called before, nothing was run
 */
export async function runExec(
  argument: string | undefined,
  options: ExecOptions,
  start: Start,
  progress: Progress,
  review?: ReviewOptions,
  model?: Model,
): Promise<number> {
  if (options.printEventSchema === true) return printEventSchema()
  // A supervised run must keep its process, because only this process has the channel to the supervisor.
  const own = options.supervised === true ? {} : { ownProcess: ownProcess() }
  const asked = model === undefined ? {} : { model }
  const request = { ...(await requestOf(argument, options, review)), start, ...own, ...asked }
  if (options.showContext === true) return showContext(configure(request))
  const reports = openRunReports(options)
  const supervisor = options.supervised === true ? (await import('./supervised.ts')).connectSupervisor() : undefined
  const release: (() => void)[] = []
  if (options.timeout !== undefined) release.push(watchTimeLimit(options.timeout, options.json === true))
  const run: Run = openRun({
    ...request,
    ...(supervisor === undefined ? {} : { gate: supervisor.gate }),
    notices: useProxyFromEnvironment(process.env),
    ...(reports.write === undefined ? {} : { report: reports.write }),
    sinks: [...chooseSinks(options), reports.sink, ...(supervisor === undefined ? [] : [supervisor.sink])],
    loaded: () => {
      progress.ready()
      release.push(
        catchInterrupts(
          (reason) => run.interrupt(reason),
          (reason) => {
            const { reason: why, message } = interruptionBy({ reason })
            if (!run.abandon(reason) && options.json === true) tellFailure(why, message)
          },
        ),
      )
    },
    landing: () => {
      const held = holdSignals(whileLanding)
      held.addEventListener('abort', () => run.interrupt(held.reason as Interruption), { once: true })
    },
  })
  if (supervisor !== undefined) release.push(supervisor.release(() => run.interrupt('terminated')))
  let kept: string | undefined
  let code: number
  try {
    const summary = await run.result
    progress.ended(summary.exitCode)
    printFinalMessage(summary.finalMessage, options)
    code = summary.exitCode
    kept = keptForAnswer(summary, options)
  } finally {
    await run.close()
    for (const free of release) free()
  }
  return kept === undefined ? code : askToLand(kept, code)
}

async function requestOf(
  argument: string | undefined,
  options: ExecOptions,
  review: ReviewOptions | undefined,
): Promise<RunRequest> {
  if (review === undefined) return runRequest(argument, options)
  const { reviewRequest } = await import('./review-from-options.ts')
  return reviewRequest(argument, options, review)
}

function printEventSchema(): number {
  printJsonText(JSON.stringify(eventJsonSchema(), undefined, 2))
  return exitCodes.done
}
