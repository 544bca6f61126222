import type { CallHooks, RunHooks } from '../tools/hook-interface.ts'
import { callHooks } from './call-hooks.ts'
import type { Model } from '../core/model.ts'
import { hookedModel } from './hooked-model.ts'
import { watchConfig, type ConfigFile } from './config-watch.ts'
import { createHooks, type HookRun, type Hooks, type HookDependencies } from './hooks.ts'
import { withoutAgentHooks, type HookSet } from './load-hooks.ts'
import { taskHooks } from './task-hooks.ts'
import { withReason } from './with-reason.ts'

/** How a session starts, as the `SessionStart` event names it. */
type SessionSource = 'startup' | 'resume' | 'compact'

/** The hooks of a run, and the interface through which the run calls them. */
type OpenHooks = {
  readonly hooks: Hooks
  readonly run: RunHooks
  /** The hooks that run before and after the tool calls of the agent that an `agent` hook starts. They don't include `agent` hooks. */
  readonly inspectorCalls: CallHooks
  /** Wraps one of the run's models, so that hooks run around its requests. */
  readonly wrapModel: (model: Model) => Model
  readonly close: () => Promise<void>
}

/** Prepares loaded hooks for a run. */
export function openHooks(
  set: HookSet,
  source: SessionSource,
  dependencies: Omit<HookDependencies, 'onRun'>,
  {
    openModel,
    configFiles,
  }: {
    readonly openModel: (name: string) => Promise<Model>
    /** The files whose changes trigger `ConfigChange` hooks. */
    readonly configFiles: readonly ConfigFile[]
  },
): OpenHooks {
  let stopped: string | undefined
  const waiting: HookRun[] = []
  let sink = (run: HookRun): void => void waiting.push(run)
  const told = { ...dependencies, onRun: (run: HookRun) => sink(run) }
  const hooks = createHooks(set, told)
  const forInspectors = createHooks(withoutAgentHooks(set), told)
  const stop = (reason: string): void => void (stopped ??= reason)
  const refused = new Map<string, string>()
  const changedConfig = hooks.has('ConfigChange') ? watchConfig(configFiles) : () => []
  const calls = callHooks(hooks, dependencies.workspace, stop)

  const run: RunHooks = {
    calls: {
      ...calls,
      before: async (call) => {
        const reason = refused.get(call.id)
        return reason === undefined ? calls.before(call) : { decision: 'block', reason }
      },
      after: async (call, result, took) => {
        const after = await calls.after(call, result, took)
        const said = (await hooks.woken(false)).map((reason) => `\n[hook] ${reason}`)
        return said.length === 0 ? after : { ...after, output: `${after.output}${said.join('')}` }
      },
    },
    tasks: taskHooks(hooks, stop),
    report: (complete) => {
      sink = ({ event, handler, status, durationMs, message }) =>
        complete({
          type: 'hook',
          event,
          handler,
          status,
          duration_ms: durationMs,
          ...(message === undefined ? {} : { message }),
        })
      for (const earlier of waiting.splice(0)) sink(earlier)
    },
    within: (signal) => {
      hooks.within(signal)
      forInspectors.within(signal)
    },
    begin: async (prompt) => {
      const started = await hooks.fire('SessionStart', { source })
      const submitted = await hooks.fire('UserPromptSubmit', { prompt })
      const context = [...started.context, ...submitted.context]
      const ended = started.stop ?? submitted.stop
      if (ended !== undefined) return { context, refused: `A hook ended the run: ${ended}` }
      if (submitted.decision !== 'deny') return { context }
      return { context, refused: withReason('A hook refused the prompt', submitted.reason) }
    },
    finish: async (message, again) => {
      const late = await hooks.woken(true)
      if (late.length > 0) return late.join('\n')
      const outcome = await hooks.fire('Stop', { stop_hook_active: again, last_assistant_message: message })
      if (outcome.stop !== undefined) stop(outcome.stop)
      return outcome.decision === 'deny' && outcome.stop === undefined ? outcome.reason : undefined
    },
    between: async () => {
      const minded: string[] = []
      for (const { path, source: whose } of changedConfig()) {
        const outcome = await hooks.fire('ConfigChange', { source: whose, file_path: path })
        if (outcome.stop !== undefined) stop(outcome.stop)
        if (outcome.decision === 'deny') {
          minded.push(
            `${path} has changed, but a hook objects to that (${outcome.reason ?? 'without a reason'}). This run continues with the configuration that it read at the start.`,
          )
        }
      }
      return minded
    },
    compact: async (when) => {
      await hooks.fire(when === 'before' ? 'PreCompact' : 'PostCompact', { trigger: 'auto' })
    },
    end: async (reason, failure) => {
      if (failure !== undefined) await hooks.fire('StopFailure', { error: reason, error_details: failure })
      await hooks.fire('SessionEnd', { reason: failure === undefined ? 'prompt_input_exit' : 'other' })
      await hooks.close()
    },
    stopped: () => stopped,
  }
  const refuse = (callId: string, reason: string): void => void refused.set(callId, reason)
  const wrapModel = (model: Model): Model => hookedModel(model, hooks, { stop, refuse, openModel })
  const close = async (): Promise<void> => void (await Promise.all([hooks.close(), forInspectors.close()]))
  return { hooks, run, inspectorCalls: callHooks(forInspectors, dependencies.workspace, stop), wrapModel, close }
}

/** Returns the run's hooks for a sub-agent. They run when the sub-agent starts and stops, around its calls, and for its background tasks. */
export function hooksOfAgent(
  hooks: Hooks,
  run: RunHooks,
  agent: { readonly id: string; readonly type: string },
): RunHooks {
  const who = { agent_id: agent.id, agent_type: agent.type }
  return {
    ...run,
    tasks: {
      created: (task) => run.tasks.created({ ...task, of: agent }),
      completed: (task) => run.tasks.completed({ ...task, of: agent }),
    },
    report: () => undefined,
    within: () => undefined,
    begin: async () => ({ context: (await hooks.fire('SubagentStart', who)).context }),
    finish: async (message, again) => {
      const fields = { ...who, stop_hook_active: again, last_assistant_message: message }
      const outcome = await hooks.fire('SubagentStop', fields)
      return outcome.decision === 'deny' && outcome.stop === undefined ? outcome.reason : undefined
    },
    between: () => Promise.resolve([]),
    compact: () => Promise.resolve(),
    end: () => Promise.resolve(),
  }
}
