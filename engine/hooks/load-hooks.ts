import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkJson, parseJson, readJson } from '../core/read-json.ts'
import { loadPermissions, RuleError, type Action } from '../../policies/index.ts'
import { assessor } from '../core/assessor.ts'
import { describeRuleError } from '../config/read-policies.ts'
import { UserError } from '../core/user-error.ts'
import { hookEvents, otherEvents, type HookEvent } from './hook-event.ts'
import { HooksTable, type CallbackHandler, type Handler } from './hooks-schema.ts'

/** A settings file that may contain hooks, and its owner. */
export type HookFile = {
  readonly path: string
  readonly layer: 'managed' | 'user' | 'project' | 'plugin'
  /** The folder of the plugin that the file belongs to, for `CLAUDE_PLUGIN_ROOT`. Absent: the file belongs to no plugin. */
  readonly pluginRoot?: string
  /** What the file says, if it has been read already, or was given without a file. */
  readonly text?: string
}

/** A handler with its matcher, its condition and its origin. */
export type Hook = {
  readonly handler: Handler
  readonly matcher: string | undefined
  /** Whether the handler's `if` covers an action. Undefined: there is no `if`, so the handler runs for every call. */
  readonly condition: ((action: Action) => boolean) | undefined
  /** The position of the handler, as `file:line:column`, for messages. */
  readonly origin: string
  readonly file: HookFile
}

/** A callback of the program that drives the run. */
export type HookCallback = {
  readonly event: HookEvent
  readonly matcher: string | undefined
  readonly handler: CallbackHandler
}

/** All hooks of a run by event, in the order in which they were read. */
export type HookSet = {
  readonly hooks: ReadonlyMap<HookEvent, readonly Hook[]>
  /** Sentences about hooks that will never run, and about hook settings that are ignored. */
  readonly notices: readonly string[]
}

/**
 * Reads the `hooks` tables of settings files in Claude Code's format. A missing file counts as one without hooks. Other settings are ignored.
 *
 * @throws UserError `usage` with `file:line:column` for any error in any file: a guard that silently vanishes is worse than a run
 *   that doesn't start
 */
export function loadHooks(files: readonly HookFile[]): HookSet {
  const hooks = new Map<HookEvent, Hook[]>()
  const notices: string[] = []
  for (const file of files.filter(({ path, text }) => text !== undefined || existsSync(path))) {
    const json = file.text === undefined ? readJson(file.path) : parseJson(file.text, file.path)
    const settings = json.value
    if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
      throw new UserError('usage', `${json.place([])}: the settings are not an object; expected {"hooks": {…}}`)
    }
    const table = (settings as { readonly hooks?: unknown }).hooks
    if (table === undefined) continue
    const groups = checkJson(HooksTable, json, table, ['hooks'])
    for (const name of otherEvents.filter((one) => Object.hasOwn(groups, one))) {
      notices.push(`${json.place(['hooks', name])}: Portcullis has no event ${name}, so these hooks never run`)
    }
    for (const event of Object.keys(hookEvents) as HookEvent[]) {
      const found = (groups[event] ?? []).flatMap((group, g) =>
        group.hooks.map((handler, h) => {
          const at = ['hooks', event, g, 'hooks', h]
          const origin = json.place(at)
          if (wantsOut(handler) && !mayLeave(file))
            notices.push(
              `${origin}: "sandbox": false is ignored, because only hooks in your own configuration may leave the sandbox`,
            )
          return {
            handler,
            matcher: group.matcher,
            condition: condition(handler, file, json.place([...at, 'if'])),
            origin,
            file,
          }
        }),
      )
      if (found.length > 0) hooks.set(event, [...(hooks.get(event) ?? []), ...found])
    }
  }
  return { hooks, notices }
}

/** Adds the callbacks of the program that drives the run, after the hooks of files. */
export function withCallbacks({ hooks, notices }: HookSet, callbacks: readonly HookCallback[]): HookSet {
  const added = Map.groupBy(callbacks, ({ event }) => event)
  const all = new Map(hooks)
  for (const [event, each] of added) {
    const own = each.map(({ matcher, handler }): Hook => ({ handler, matcher, condition: undefined, ...client }))
    all.set(event, [...(hooks.get(event) ?? []), ...own])
  }
  return { hooks: all, notices }
}

const client: Pick<Hook, 'origin' | 'file'> = { origin: 'the client', file: { path: 'the client', layer: 'user' } }

/** Whether a hook runs outside the sandbox, with all of the user's rights. */
export function runsOutside({ handler, file }: Hook): boolean {
  return wantsOut(handler) && mayLeave(file)
}

function wantsOut(handler: Handler): boolean {
  return handler.type === 'command' && handler.sandbox === false
}

function mayLeave({ layer }: HookFile): boolean {
  return layer === 'user' || layer === 'managed'
}

/** Compiles a handler's `if` as if it were a permission rule, so that it covers exactly the calls that such a rule would cover. */
function condition(handler: Handler, file: HookFile, place: string): Hook['condition'] {
  if (handler.if === undefined) return undefined
  const text = JSON.stringify({ permissions: { ask: [handler.if] } })
  try {
    const folder = dirname(dirname(file.path))
    const permissions = loadPermissions([{ path: file.path, layer: 'user', text, folder }])
    const assess = assessor({ approvalMode: 'bypass', permissions })
    return (action) => assess(action).decision === 'ask'
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError('usage', `${place}: ${describeRuleError(error).replace(/^.*?:\d+:\d+: /s, '')}`, {
      cause: error,
    })
  }
}

/**
 * Returns all hooks except those that ask an agent. Such hooks must not run for the tool calls of their own agent, or hooks and agents would start
 * each other endlessly.
 */
export function withoutAgentHooks({ hooks, notices }: HookSet): HookSet {
  const left = [...hooks].map(([event, all]) => [event, all.filter(({ handler }) => handler.type !== 'agent')] as const)
  return { hooks: new Map(left.filter(([, all]) => all.length > 0)), notices }
}
