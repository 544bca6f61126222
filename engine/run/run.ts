import process from 'node:process'
import { formatHead, type Guardian } from '../../policies/index.ts'
import { schemaVersion, type RunSummary } from '../events.ts'
import { ModelError, type HistoryItem, type ModelRequest } from '../model.ts'
import { planModeNotice } from '../plan-mode/plan-mode.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { ReviewDesk } from '../reviewers/desk.ts'
import { closeWorkingState, openWorkingState } from '../tools/working-state.ts'
import { showTodo, todoOf } from './resumed-todo.ts'
import type { Rollout } from '../session/rollout.ts'
import type { Session } from '../session/session.ts'
import { BudgetWatch } from './budget.ts'
import { budgetedModel } from './budgeted-model.ts'
import { circumstancesOf, closingOf, withheldBy } from './circumstances.ts'
import { compact } from './compact.ts'
import { Conversation } from './conversation.ts'
import { noHooks } from './hooks.ts'
import { Recorder, type Closing } from './recorder.ts'
import { listen, spendInVain } from './listen.ts'
import type { CallPath } from './run-call.ts'
import { Room } from './room.ts'
import { startCalls } from './run-calls.ts'
import type { RunOptions } from './run-options.ts'
import { RefusalWatch } from './refusals.ts'
import { faultOf, stopFor, type Stop } from './stop.ts'
import { noTaskHooks } from './task-hooks.ts'
import { tellTasks } from './tell-tasks.ts'
import { whilePlanning } from './whereabouts.ts'
import { leaveToSearch } from './web-search.ts'

/**
 * Runs a model on a task until it has nothing more to call: request, calls, results, again. It always ends with exactly
 * one terminal event and gives the summary; it throws nothing that a model, a provider or a command could cause.
 */
export async function run(options: RunOptions): Promise<RunSummary> {
  const { session } = options
  const recorder = new Recorder(
    options.sinks,
    options.earlier,
    (bytes) => keepIfPossible(session, bytes),
    circumstancesOf(options.sandbox),
  )
  const budget = new BudgetWatch(options.budget, options.factsOf)
  let closing: Closing | undefined
  let stop: Stop | undefined
  try {
    announce(options, recorder)
    session.rollout.append({ type: 'run', at: new Date().toISOString(), model: options.model.name })
    const conversation = new Conversation(session.rollout, options.earlier)
    const running = { recorder, budget, conversation }
    const guardian = options.guard(reviewDesk(options, running))
    stop = await converse(options, guardian, running)
    options.hooks?.within(undefined)
    await options.hooks?.end(stop?.reason ?? 'done', stop?.message)
    closing = { auditHead: formatHead(guardian.head()) }
    noteEnd(session.rollout, stop)
  } catch (error) {
    // What was to end the run comes first: it may be why the rest failed.
    stop ??= faultOf(error)
  } finally {
    budget.close()
  }
  const undelivered = options.deliver?.(recorder.finalMessage)
  if (undelivered !== undefined) stop ??= { reason: 'failed', message: undelivered }
  return recorder.end(stop?.reason ?? 'done', stop?.message, {
    ...closing,
    cost: budget.cost,
    ...closingOf(options.sandbox),
  })
}

/** Events are told on a full disk too. */
function keepIfPossible(session: Session, bytes: Uint8Array): string | undefined {
  try {
    return session.keepOutput(bytes)
  } catch {
    return undefined
  }
}

function announce(options: RunOptions, recorder: Recorder): void {
  const { policy, backend } = options.sandbox
  const { maxTurns, maxTokens, maxCost, timeoutMs } = options.budget
  const ignored = (options.ignoredConfig ?? []).map((entry) => ({ ...entry, keys: [...entry.keys] }))
  recorder.emit({
    type: 'thread.started',
    thread_id: options.session.threadId,
    schema_version: schemaVersion,
    config: given({
      model: options.model.name,
      cwd: options.workspace,
      sandbox_mode: policy.mode,
      sandbox_backend: backend,
      network: policy.mode === 'danger-full-access' ? 'full' : policy.network.mode,
      environment_withheld: { ...withheldBy(options.sandbox) },
      approval_policy: options.approvalPolicy,
      reasoning_effort: options.reasoningEffort,
      plan_mode: options.planMode?.wishedBy,
      budget: given({ max_turns: maxTurns, max_tokens: maxTokens, max_cost_usd: maxCost, timeout_ms: timeoutMs }),
      session_dir: options.session.directory,
      ignored_config: ignored.length === 0 ? undefined : ignored,
    }),
  })
  recorder.emit({ type: 'turn.started' })
  for (const message of options.notices ?? []) recorder.complete({ type: 'error', message })
  if (options.planMode?.wishedBy !== undefined) {
    recorder.complete({ type: 'plan_mode', state: 'entered', wished_by: options.planMode.wishedBy })
  }
  options.hooks?.report((item) => recorder.complete(item))
}

/** An object without the fields that are undefined. */
function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> }
}

function noteEnd(rollout: Rollout, stop: Stop | undefined): void {
  const message = stop === undefined ? {} : { message: stop.message }
  rollout.append({ type: 'end', at: new Date().toISOString(), reason: stop?.reason ?? 'done', ...message })
  rollout.sync()
}

/** What belongs to one run. */
type Running = {
  readonly recorder: Recorder
  readonly budget: BudgetWatch
  readonly conversation: Conversation
}

async function converse(options: RunOptions, guardian: Guardian, running: Running): Promise<Stop | undefined> {
  const { tools, session } = options
  const { recorder, budget, conversation } = running
  const model = budgetedModel(options.model, budget)
  const signal = AbortSignal.any([options.signal, budget.signal])
  if (options.earlier === undefined) {
    for (const text of options.context) conversation.add({ type: 'message', role: 'developer', text })
  }
  for (const text of options.opening ?? []) conversation.add({ type: 'message', role: 'developer', text })
  const planning =
    options.planMode === undefined
      ? undefined
      : planModeNotice(options.planMode, tools.find('exit_plan_mode') !== undefined)
  if (planning !== undefined) conversation.add({ type: 'message', role: 'developer', text: planning })
  const { images = [] } = options
  conversation.add({
    type: 'message',
    role: 'user',
    text: options.prompt,
    ...(images.length === 0 ? {} : { images }),
  })
  options.hooks?.within(signal)
  const begun = await options.hooks?.begin(options.prompt)
  if (signal.aborted) return stopFor(signal.reason, options.signal, budget)
  for (const text of begun?.context ?? []) conversation.add({ type: 'message', role: 'developer', text })
  if (begun?.refused !== undefined) return { reason: 'stoppedByGuardian', message: begun.refused }
  const fixed: Omit<ModelRequest, 'history' | 'tools'> = {
    instructions: options.instructions,
    threadId: session.threadId,
    ...(options.reasoningEffort === undefined ? {} : { reasoningEffort: options.reasoningEffort }),
    ...(options.maxOutputTokens === undefined ? {} : { sampling: { maxOutputTokens: options.maxOutputTokens } }),
    ...(options.output?.request === undefined ? {} : { outputSchema: options.output.request }),
    ...(await leaveToSearch(options.webSearch, { guardian, recorder, signal })),
  }
  const path = callPath(options, guardian, recorder)
  showTodo(path.context.state.todo, recorder)
  const concurrency = options.toolConcurrency ?? defaultConcurrency
  const room = new Room(options.compactAt)
  let sentBack = 0
  const refusals = new RefusalWatch()
  try {
    for (;;) {
      const exhausted = budget.exhausted()
      if (exhausted !== undefined) return { reason: 'budget', message: exhausted }
      const request: ModelRequest = { ...fixed, tools: tools.declarations, history: conversation.items }
      const wanted = room.wanted(conversation.tokens, model.name)
      if (wanted !== undefined) {
        await options.hooks?.compact('before')
        await compact({ model, request, conversation, recorder, budget, signal }, wanted)
        await options.hooks?.compact('after')
        room.made(conversation.tokens)
        continue
      }
      const calls = startCalls({ path, conversation, signal, concurrency, failOnDenied: options.failOnDenied })
      const refusedBefore = recorder.deniedCount
      let called: number
      try {
        called = await listen({ model, request, conversation, recorder, budget, calls, signal })
        room.answered()
        const stop = await calls.finish()
        if (stop !== undefined) return stop
      } catch (error) {
        if (!room.overflowed(error)) throw room.explain(error)
        if (error.spent !== undefined) spendInVain(error.spent, { model, conversation, recorder, budget })
        continue
      } finally {
        await calls.close()
      }
      for (const message of (await options.hooks?.between()) ?? []) recorder.complete({ type: 'error', message })
      const forbidden = options.hooks?.stopped()
      if (forbidden !== undefined) return { reason: 'stoppedByGuardian', message: `A hook ended the run: ${forbidden}` }
      if (called === 0) {
        const judgement = options.output?.judgeMessage(conversation.items) ?? { done: true }
        if (judgement.done) {
          if (tellTasks(path.context.state.tasks, conversation, true)) continue
          const more =
            sentBack < maxSentBack ? await options.hooks?.finish(recorder.finalMessage, sentBack > 0) : undefined
          // A hook that was given up has not agreed that it is done.
          signal.throwIfAborted()
          if (more === undefined) return undefined
          sentBack++
          // Not as the user's: what a user says counts as leave for what is done.
          conversation.add({ type: 'message', role: 'developer', text: more })
          continue
        }
        if ('failure' in judgement) return { reason: 'failed', message: judgement.failure }
        conversation.add({ type: 'message', role: 'developer', text: judgement.correction })
        continue
      }
      // A person has a word for it.
      const refused = recorder.deniedCount - refusedBefore
      const knocking = options.attended === true ? undefined : refusals.see(called, refused)
      if (knocking !== undefined) return { reason: 'stoppedByGuardian', message: knocking }
      const plan = options.output === undefined ? options.planMode?.concluded : undefined
      if (plan !== undefined) return deliver(plan, conversation, recorder)
      const judgement = options.output?.judgeCalls()
      if (judgement?.done === true) return deliver(options.output?.delivered, conversation, recorder)
      if (judgement !== undefined && 'failure' in judgement) return { reason: 'failed', message: judgement.failure }
      if (conversation.repeated !== undefined) return { reason: 'budget', message: conversation.repeated }
      suggestTools(tools, conversation)
      tellTasks(path.context.state.tasks, conversation, false)
      signal.throwIfAborted()
    }
  } catch (error) {
    if (error instanceof ModelError && error.spent !== undefined)
      spendInVain(error.spent, { model, conversation, recorder, budget })
    return stopFor(error, options.signal, budget)
  } finally {
    await closeWorkingState(path.context.state)
  }
}

/** What was delivered through a tool is the final message, in the stream and in the history. */
function deliver(message = '', conversation: Conversation, recorder: Recorder): undefined {
  conversation.add({ type: 'message', role: 'assistant', text: message })
  recorder.complete({ type: 'agent_message', text: message })
}

/** Between turns the model is told of tools it can't see that fit what it is at. */
function suggestTools(tools: ToolRegistry, conversation: Conversation): void {
  const said = conversation.items.findLast((item) => item.type === 'message' && item.role !== 'developer')
  const names = said?.type === 'message' ? tools.suggest(said.text) : []
  if (names.length === 0) return
  const text = `Tools that may help: ${names.join(', ')}. tool_search with "select:${names.join(',')}" shows how to call them.`
  conversation.add({ type: 'message', role: 'developer', text })
}

const defaultConcurrency = 10
/** How often a hook may send the model on after it has come to its end: one that always does would never let go. */
const maxSentBack = 8

function callPath(options: RunOptions, guardian: Guardian, recorder: Recorder): CallPath {
  const { tools: registry, attended = false, session, planMode } = options
  const hooks = options.hooks?.calls ?? noHooks
  const now = whilePlanning(options.now ?? (() => options), planMode)
  const state = openWorkingState(
    () => now().sandbox,
    (bytes) => session.keepOutput(bytes),
    process.env,
    {
      todo: todoOf(options),
      taskHooks: options.hooks?.tasks ?? noTaskHooks,
      ...(options.outputLimits === undefined ? {} : { limits: options.outputLimits }),
    },
  )
  return {
    registry,
    hooks,
    recorder,
    attended,
    ...(planMode === undefined ? {} : { planMode }),
    // Looked up for each call: it changes in the middle of a run.
    get context() {
      return { ...now(), guardian, state, variables: options.variables?.() ?? {} }
    },
  }
}

function reviewDesk(options: RunOptions, { recorder, budget, conversation }: Running): ReviewDesk {
  return {
    open: (item) => recorder.open(item),
    spend: (usage, name) => {
      recorder.addUsage(usage)
      conversation.addSpent(usage, budget.spendBeside(usage, name))
    },
    exhausted: () => budget.exhausted(),
    within: (model) => budgetedModel(model, budget),
    prompts: [...promptsOf(options.earlier?.original ?? []), options.prompt],
    history: () => conversation.items,
  }
}

/** What the user said in a history. */
function promptsOf(history: readonly HistoryItem[]): readonly string[] {
  return history.flatMap((item) => (item.type === 'message' && item.role === 'user' ? [item.text] : []))
}
