import type { Sandbox } from '../../sandbox/index.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { combineAnswers, type HookAnswer, type HookOutcome } from './combine-answers.ts'
import type { HandlerResult } from './handler-result.ts'
import { kindOf, type HookEvent } from './hook-event.ts'
import type { Hook, HookSet } from './load-hooks.ts'
import { messageOf, nameOf, timeoutOf } from './describe-hook.ts'
import { distinct, translated, viewsFor } from './match-views.ts'
import { matchesName } from './match-tool-name.ts'
import { runCallbackHook } from './run-callback-hook.ts'
import { runCommandHook } from './run-command-hook.ts'
import { runHttpHook } from './run-http-hook.ts'
import { runMcpToolHook, type CallMcpTool } from './run-mcp-tool-hook.ts'
import { runPromptHook, type AskModel } from './run-prompt-hook.ts'
import type { CallView } from './call-view.ts'

/** The record of a hook that ran, for the event stream. */
export type HookRun = {
  readonly event: HookEvent
  /** The command, URL or tool, shortened, or `prompt` or `agent`; followed by the position of the handler in its file. */
  readonly handler: string
  readonly status: 'completed' | 'blocked' | 'failed'
  readonly durationMs: number
  /** Why the hook blocked something or failed; otherwise, what it said to the user, and which of its variables were rejected. */
  readonly message: string | undefined
}

/** What hooks need from the run. */
export type HookDependencies = {
  /** The fields that every input contains: `session_id`, `transcript_path`, `cwd`, `permission_mode` and the like. */
  readonly common: () => Readonly<Record<string, unknown>>
  readonly workspace: string
  /** The sandbox that a command hook runs in. */
  readonly sandboxFor: (hook: Hook) => Promise<Sandbox>
  readonly env: Readonly<NodeJS.ProcessEnv>
  readonly ask: AskModel
  readonly callMcpTool: CallMcpTool
  /** The reason why the host of a URL must not be contacted; undefined if it may be contacted. */
  readonly forbidsHost: (url: URL) => string | undefined
  /** Stores a text that is too long to show. Returns the file's path. */
  readonly keep: (text: string) => string
  readonly onRun: (run: HookRun) => void
  /**
   * Opens a file in which a command hook can leave variables for later commands. If this function is absent or resolves to undefined, the hook can't
   * set variables.
   */
  readonly envFileFor?: (hook: Hook) => Promise<OpenEnvFile | undefined>
  readonly signal: AbortSignal
}

/** A file to which one hook may write variables; `CLAUDE_ENV_FILE` names it. */
type OpenEnvFile = {
  readonly path: string
  /** A sandbox in which the file is writable. */
  readonly sandbox: Sandbox
  /** Reads the variables that the hook with the given name wrote to the file. Returns sentences about those that were rejected. */
  readonly take: (hook: string) => readonly string[]
  readonly close: () => Promise<void>
}

/** The hooks of a run. */
export type Hooks = {
  /** Whether any hook handles the event. If none does, the caller need not build the hooks' input. */
  readonly has: (event: HookEvent) => boolean
  /** Runs the hooks of an event in parallel, and returns their merged answer. */
  readonly fire: (event: HookEvent, fields: Readonly<Record<string, unknown>>) => Promise<HookOutcome>
  /** Runs the hooks of a call's event in parallel, and returns their merged answer. A hook runs once for each view of the call that it matches. */
  readonly fireForCall: (
    event: HookEvent,
    views: readonly CallView[],
    fields: Readonly<Record<string, unknown>>,
  ) => Promise<HookOutcome>
  /**
   * Returns the reasons that hooks with `asyncRewake` have given for denials since this function was last called.
   *
   * @param waits whether to wait for hooks that are still running
   */
  readonly woken: (waits: boolean) => Promise<readonly string[]>
  /** Sets a signal that, when aborted, cancels the hooks started from now on. Undefined: only `close` and the dependencies' `signal` cancel them. */
  readonly within: (signal: AbortSignal | undefined) => void
  /** Gives hooks with `async` a short time to finish, then stops all hooks that are still running. */
  readonly close: () => Promise<void>
}

/** The maximum length of a text that a hook adds to the conversation, as in Claude Code. */
const contextLimit = 10_000
/** How long hooks with `async` may keep running after the run, in milliseconds. */
const graceMs = 2000

/** Creates the hooks of a run from a set of loaded hooks. */
export function createHooks(set: HookSet, dependencies: HookDependencies): Hooks {
  const hooksOf = new Map([...set.hooks].map(([event, hooks]) => [event, distinct(hooks)]))
  const spent = new Set<Hook>()
  const beside = new Set<Promise<unknown>>()
  const waking = new Set<Promise<unknown>>()
  const woken: string[] = []
  const ending = new AbortController()
  const lasting = AbortSignal.any([dependencies.signal, ending.signal])
  let signal = lasting

  /** Runs one hook on one input. Returns undefined if nobody waits for its answer, or if a hook that runs only once has already run. */
  async function runOne(
    event: HookEvent,
    hook: Hook,
    input: Readonly<Record<string, unknown>>,
  ): Promise<HookAnswer | undefined> {
    if (hook.handler.once === true) {
      if (spent.has(hook)) return undefined
      spent.add(hook)
    }
    const name = nameOf(hook)
    const run = async (): Promise<HandlerResult> => {
      const started = performance.now()
      const envFile = await envFileOf(event, hook)
      const result = await runHandler(hook, input, { ...dependencies, envFile }, timeoutOf(event, hook), signal)
      const notes = result.status === 'answered' ? (envFile?.take(name) ?? []) : []
      await envFile?.close()
      dependencies.onRun({
        event,
        handler: name,
        status: result.status === 'answered' ? 'completed' : result.status,
        durationMs: Math.round(performance.now() - started),
        message: messageOf(result, notes),
      })
      return result
    }
    if (hook.handler.asyncRewake === true) {
      const running = run()
        .then((result) => void (result.status === 'blocked' && woken.push(result.reason)))
        .finally(() => waking.delete(running))
      waking.add(running)
      return undefined
    }
    if (hook.handler.async === true) {
      const running = run().finally(() => beside.delete(running))
      beside.add(running)
      return undefined
    }
    return { result: await run(), name, blocksOnFailure: kindOf(event).guards && hook.handler.onError !== 'continue' }
  }

  function envFileOf(event: HookEvent, hook: Hook): Promise<OpenEnvFile | undefined> | undefined {
    return kindOf(event).setsVariables === true && hook.handler.type === 'command'
      ? dependencies.envFileFor?.(hook)
      : undefined
  }

  function together(event: HookEvent, answers: readonly (HookAnswer | undefined)[]): HookOutcome {
    const outcome = combineAnswers(
      answers.filter((answer) => answer !== undefined),
      kindOf(event).text,
    )
    return { ...outcome, context: outcome.context.map(bounded) }
  }

  function bounded(text: string): string {
    return text.length <= contextLimit ? text : truncateMiddle(text, contextLimit, dependencies.keep(text)).text
  }

  return {
    has: (event) => set.hooks.has(event),
    fire: async (event, fields) => {
      const input = { ...dependencies.common(), hook_event_name: event, ...fields }
      const { matches } = kindOf(event)
      const subject = matches === undefined ? '' : String(fields[matches] ?? '')
      const hooks = (hooksOf.get(event) ?? []).filter(
        ({ matcher }) => matches === undefined || matchesName(matcher, subject),
      )
      return together(event, await Promise.all(hooks.map((hook) => runOne(event, hook, input))))
    },
    fireForCall: async (event, views, fields) => {
      const running = (hooksOf.get(event) ?? []).flatMap((hook) =>
        viewsFor(hook, views).map(async (view) => {
          const shown = { tool_name: view.name, tool_input: view.input }
          const input = { ...dependencies.common(), hook_event_name: event, ...shown, ...fields }
          const answer = await runOne(event, hook, input)
          return answer === undefined ? undefined : { ...answer, result: translated(answer.result, view) }
        }),
      )
      return together(event, await Promise.all(running))
    },
    within: (until) => void (signal = until === undefined ? lasting : AbortSignal.any([lasting, until])),
    woken: async (waits) => {
      if (waits) await Promise.allSettled(waking)
      return woken.splice(0)
    },
    close: async () => {
      if (beside.size > 0) {
        const late = new Promise((resolve) => setTimeout(resolve, graceMs).unref())
        await Promise.race([Promise.allSettled(beside), late])
      }
      ending.abort()
      await Promise.allSettled([...beside, ...waking])
    },
  }
}

async function runHandler(
  hook: Hook,
  input: Readonly<Record<string, unknown>>,
  dependencies: HookDependencies & { readonly envFile: OpenEnvFile | undefined },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<HandlerResult> {
  const { handler, file } = hook
  switch (handler.type) {
    case 'command': {
      const { workspace, envFile } = dependencies
      const sandbox = envFile?.sandbox ?? (await dependencies.sandboxFor(hook))
      const { pluginRoot } = file
      const place = { sandbox, cwd: workspace, project: workspace, pluginRoot, envFile: envFile?.path }
      const options = { ...place, timeoutMs, signal }
      return runCommandHook(handler, JSON.stringify(input), options)
    }
    case 'http': {
      const forbidden = dependencies.forbidsHost(new URL(handler.url))
      if (forbidden !== undefined) return { status: 'failed', reason: `${handler.url}: ${forbidden}` }
      return runHttpHook(handler, JSON.stringify(input), { env: dependencies.env, timeoutMs, signal })
    }
    case 'prompt':
    case 'agent':
      return runPromptHook(handler, JSON.stringify(input), dependencies.ask, { timeoutMs, signal })
    case 'mcp_tool':
      return runMcpToolHook(handler, input, dependencies.callMcpTool, { timeoutMs, signal })
    case 'callback':
      return runCallbackHook(handler, input, { timeoutMs, signal })
    default:
      return handler satisfies never
  }
}
