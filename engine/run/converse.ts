import { ModelError, type Model, type ModelRequest } from '../core/model.ts'
import { planModeNotice } from '../tools/plan-mode/plan-mode-state.ts'
import { budgetedModel } from './budgeted-model.ts'
import type { CallPath } from './find-call.ts'
import { consumeResponse, recordFailedAttempt } from './consume-response.ts'
import { runFirstCalls } from './first-calls.ts'
import { firstVerdict, type Observer, type Responded, type Verdict } from './observer.ts'
import { observersOf } from './observers/index.ts'
import { showTodo } from './resumed-todo.ts'
import { startCalls } from './run-calls.ts'
import type { RunOptions } from './run-options.ts'
import type { Running } from './running.ts'
import { stopFor, type Stop } from './stop.ts'
import { approveWebSearch } from './approve-web-search.ts'

const defaultConcurrency = 10

/** Lets a model and its tools work until the run ends. Returns the reason to stop; undefined if the model finished normally. */
export async function converse(options: RunOptions, path: CallPath, running: Running): Promise<Stop | undefined> {
  const { recorder, budget, conversation } = running
  const model = budgetedModel(options.model, budget)
  const signal = AbortSignal.any([options.signal, budget.signal])
  sayFirst(options, running)
  options.hooks?.within(signal)
  const begun = await options.hooks?.begin(options.prompt)
  if (signal.aborted) return stopFor(signal.reason, options.signal, budget)
  for (const text of begun?.context ?? []) conversation.add({ type: 'message', role: 'developer', text })
  if (begun?.refused !== undefined) return { reason: 'stoppedByGuardian', message: begun.refused }
  await runFirstCalls(options.firstCalls ?? [], path, conversation, signal)
  if (signal.aborted) return stopFor(signal.reason, options.signal, budget)
  const { state, guardian } = path.context
  const search = await approveWebSearch(options.webSearch, { guardian, recorder, signal })
  if ('refused' in search) return { reason: 'stoppedByGuardian', message: search.refused }
  const fixed = { ...requestOf(options), ...search }
  showTodo(state.todo, recorder)
  const observers = observersOf(options, running, { model, path, signal })
  try {
    for (;;) {
      const request = { ...fixed, tools: options.tools.declarations, history: conversation.items }
      const reached =
        (await firstVerdict(observers, ({ beforeRequest }) => beforeRequest?.(request))) ??
        (await turn({ options, path, running, model, signal, observers, request }))
      const verdict =
        reached?.type === 'done'
          ? ((await firstVerdict(observers, ({ beforeEnd }) => beforeEnd?.())) ?? reached)
          : reached
      if (verdict?.type === 'done') return undefined
      if (verdict?.type === 'stop') return verdict.stop
    }
  } catch (error) {
    if (error instanceof ModelError && error.spent !== undefined)
      recordFailedAttempt(error.spent, { model, conversation, recorder, budget })
    return stopFor(error, options.signal, budget)
  }
}

type Turn = {
  readonly options: RunOptions
  readonly path: CallPath
  readonly running: Running
  readonly model: Model
  readonly signal: AbortSignal
  readonly observers: readonly Observer[]
  readonly request: ModelRequest
}

/** Asks the model for one response, and waits for the results of all its calls. Returns the verdict; undefined if the run goes on as usual. */
async function turn({ options, path, running, model, signal, observers, request }: Turn): Promise<Verdict | undefined> {
  const { recorder, conversation } = running
  const concurrency = options.toolConcurrency ?? defaultConcurrency
  const calls = startCalls({ path, conversation, signal, concurrency, failOnDenied: options.failOnDenied })
  const refusedBefore = recorder.refusals.length
  let called: number
  try {
    called = await consumeResponse({ ...running, model, request, calls, signal })
    for (const { afterAnswer } of observers) afterAnswer?.()
    const stop = await calls.finish()
    if (stop !== undefined) return { type: 'stop', stop }
  } catch (error) {
    const verdict = await firstVerdict(observers, ({ afterFailure }) => afterFailure?.(error))
    if (verdict === undefined) throw error
    return verdict
  } finally {
    await calls.close()
  }
  const { unfit, delegated } = calls
  const response: Responded = { called, unfit, delegated, refusals: recorder.refusals.slice(refusedBefore) }
  const verdict = await firstVerdict(observers, ({ afterResponse }) => afterResponse?.(response))
  if (verdict !== undefined) return verdict
  signal.throwIfAborted()
  return called === 0 ? { type: 'done' } : undefined
}

/** Adds the texts that the model gets before its first response. */
function sayFirst(options: RunOptions, { conversation }: Running): void {
  const { planMode, tools, images = [] } = options
  const plan = planMode && planModeNotice(planMode, tools.find('exit_plan_mode') !== undefined)
  const told = [...(options.resumedFrom === undefined ? options.context : []), ...(plan === undefined ? [] : [plan])]
  for (const text of told) conversation.add({ type: 'message', role: 'developer', text })
  const shown = images.length === 0 ? {} : { images }
  // A fork may continue without a new prompt. In that case, no empty message is added.
  if (options.prompt === '' && images.length === 0 && options.resumedFrom !== undefined) return
  conversation.add({ type: 'message', role: 'user', text: options.prompt, ...shown })
}

/** The fields that all requests of a run have in common. */
function requestOf({
  instructions,
  session,
  reasoningEffort,
  verbosity,
  serviceTier,
  maxOutputTokens,
  output,
}: RunOptions): Omit<ModelRequest, 'history' | 'tools'> {
  return {
    instructions,
    threadId: session.threadId,
    requestedBy: 'agent',
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(maxOutputTokens === undefined ? {} : { sampling: { maxOutputTokens } }),
    ...(output?.request === undefined ? {} : { outputSchema: output.request }),
  }
}
