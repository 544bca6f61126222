import type { Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import { schemaVersion, type RunSummary, type Sink } from '../events.ts'
import type { EndReason } from '../exit-codes.ts'
import { ModelError, type HistoryItem, type Model, type ModelRequest, type ToolCall, type Usage } from '../model.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import type { Session } from '../session/session.ts'
import { BudgetWatch, type Budget } from './budget.ts'
import { Conversation } from './conversation.ts'
import { Recorder } from './recorder.ts'
import { runCall } from './run-call.ts'

/** Everything a run needs, made before it starts: from here on nothing of the configuration can fail. */
export type RunOptions = {
  readonly model: Model
  readonly tools: readonly Tool[]
  readonly sandbox: Sandbox
  readonly guardian: Guardian
  readonly session: Session
  /** Real path of the directory the run works in. */
  readonly workspace: string
  readonly instructions: string
  /** What the model is told before the prompt: where it is, what it may do, the instructions of user and repository. */
  readonly context: readonly string[]
  readonly prompt: string
  /** What was said before, when a session is resumed; the context is then part of it already. */
  readonly earlier?: readonly HistoryItem[]
  /** The approval policy's name, for the first event. */
  readonly approvalPolicy: string
  readonly reasoningEffort: string | undefined
  readonly budget: Budget
  /** Whether the first refusal ends the run. */
  readonly failOnDenied: boolean
  readonly sinks: readonly Sink[]
  /** Aborted with an `EndReason` as its reason to stop the run. */
  readonly signal: AbortSignal
}

/** What ended a run before its own end. */
type Stop = { readonly reason: EndReason; readonly message: string }

/**
 * Runs a model on a task until it has nothing more to call: request, calls, results, again. It always ends with exactly
 * one terminal event and gives the summary; it throws nothing that a model, a provider or a command could cause.
 */
export async function run(options: RunOptions): Promise<RunSummary> {
  const recorder = new Recorder(options.sinks)
  recorder.emit({
    type: 'thread.started',
    thread_id: options.session.threadId,
    schema_version: schemaVersion,
    config: {
      model: options.model.name,
      cwd: options.workspace,
      sandbox_mode: options.sandbox.policy.mode,
      sandbox_backend: options.sandbox.backend,
      approval_policy: options.approvalPolicy,
      session_dir: options.session.directory,
    },
  })
  recorder.emit({ type: 'turn.started' })
  const { rollout } = options.session
  rollout.append({ type: 'run', at: new Date().toISOString(), model: options.model.name })
  const budget = new BudgetWatch(options.budget)
  const stop = await converse(options, recorder, budget)
  budget.close()
  const reason = stop?.reason ?? 'done'
  rollout.append({
    type: 'end',
    at: new Date().toISOString(),
    reason,
    ...(stop === undefined ? {} : { message: stop.message }),
  })
  rollout.sync()
  return recorder.end(reason, stop?.message)
}

async function converse(options: RunOptions, recorder: Recorder, budget: BudgetWatch): Promise<Stop | undefined> {
  const { model, tools, session } = options
  const signal = AbortSignal.any([options.signal, budget.signal])
  const conversation = new Conversation(session.rollout, options.earlier)
  if (options.earlier === undefined) {
    for (const text of options.context) conversation.add({ type: 'message', role: 'developer', text })
  }
  conversation.add({ type: 'message', role: 'user', text: options.prompt })
  const request: ModelRequest = {
    instructions: options.instructions,
    tools: tools.flatMap(({ declaration }) => (declaration === undefined ? [] : [declaration])),
    history: conversation.items,
    threadId: session.threadId,
    ...(options.reasoningEffort === undefined ? {} : { reasoningEffort: options.reasoningEffort }),
  }
  try {
    for (;;) {
      const exhausted = budget.exhausted()
      if (exhausted !== undefined) return { reason: 'budget', message: exhausted }
      const calls = await listen({ model, request, conversation, recorder, budget, signal })
      if (calls.length === 0) return undefined
      for (const call of calls) {
        signal.throwIfAborted()
        const context: Omit<ToolContext, 'callId' | 'startItem'> = {
          workspace: options.workspace,
          sandbox: options.sandbox,
          guardian: options.guardian,
          signal,
          keepOutput: (bytes) => session.keepOutput(bytes),
        }
        const result = await runCall(call, tools, recorder, context)
        conversation.add({ type: 'tool_result', callId: call.id, output: result.output, ok: result.ok })
        if (result.abort === true) return { reason: 'stoppedByGuardian', message: result.output }
        const refused = options.failOnDenied ? recorder.lastDenied : undefined
        if (refused !== undefined) {
          return { reason: 'stoppedByGuardian', message: `Refused, and --fail-on-denied was given: ${refused.what}` }
        }
      }
      signal.throwIfAborted()
    }
  } catch (error) {
    if (error instanceof ModelError && error.spent !== undefined) spendInVain(error.spent, recorder, budget)
    return stopFor(error, options.signal, budget)
  }
}

/** What is needed to hear out one response. */
type Listening = {
  readonly model: Model
  readonly request: ModelRequest
  readonly conversation: Conversation
  readonly recorder: Recorder
  readonly budget: BudgetWatch
  readonly signal: AbortSignal
}

/** One response of the model: its events go to the recorder and into the history; its calls are given back. */
async function listen(listening: Listening): Promise<readonly ToolCall[]> {
  const { model, request, conversation, recorder, budget, signal } = listening
  let heard: HistoryItem[] = []
  for await (const event of model.respond(request, signal)) {
    switch (event.type) {
      case 'text_delta':
        recorder.delta(event.text)
        break
      case 'message':
        heard.push({ ...event, role: 'assistant' })
        break
      case 'reasoning':
        heard.push(event)
        break
      case 'tool_call':
        heard.push(event)
        break
      case 'retry':
        heard = []
        if (event.spent !== undefined) spendInVain(event.spent, recorder, budget)
        recorder.emit({ type: 'error', message: `Reconnecting... ${event.attempt}/${event.of} (${event.reason})` })
        break
      case 'end':
        recorder.addUsage(event.usage)
        budget.spend(event.usage)
        conversation.addResponse(heard, event.usage)
        for (const item of heard) announce(item, recorder)
        return heard.flatMap((item) => (item.type === 'tool_call' ? [item.call] : []))
      default:
        event satisfies never
    }
  }
  throw new ModelError('provider', `${model.name}: the answer stopped before its end.`)
}

/** Counts what a failed attempt cost all the same. */
function spendInVain(spent: Usage, recorder: Recorder, budget: BudgetWatch): void {
  recorder.addUsage(spent)
  budget.addTokens(spent)
}

function announce(item: HistoryItem, recorder: Recorder): void {
  if (item.type === 'message') recorder.complete({ type: 'agent_message', text: item.text })
  if (item.type === 'reasoning' && item.text !== '') recorder.complete({ type: 'reasoning', text: item.text })
}

function stopFor(error: unknown, signal: AbortSignal, budget: BudgetWatch): Stop {
  if (signal.aborted) {
    const reason: EndReason = signal.reason === 'terminated' ? 'terminated' : 'interrupted'
    return { reason, message: reason === 'terminated' ? 'Stopped by SIGTERM.' : 'Interrupted.' }
  }
  const exhausted = budget.signal.aborted ? budget.exhausted() : undefined
  if (exhausted !== undefined) return { reason: 'budget', message: exhausted }
  if (error instanceof ModelError) {
    const reasons = { provider: 'provider', configuration: 'usage', replay: 'failed' } as const
    return { reason: reasons[error.code], message: error.message }
  }
  const message = error instanceof Error ? error.message : String(error)
  return {
    reason: 'failed',
    message: `The engine failed: ${message}. This is a fault in Portcullis, please report it.`,
  }
}
