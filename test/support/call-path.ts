import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGuardian, nobody, withoutAuditLog, type ApprovalMode, type RuleSet } from '../../policies/index.ts'
import type { RunEvent } from '../../engine/core/events.ts'
import type { ToolCall } from '../../engine/core/model.ts'
import { noHooks, type CallHooks } from '../../engine/tools/hook-interface.ts'
import type { TaskHooks } from '../../engine/tools/tasks/hooked-task.ts'
import { Recorder } from '../../engine/run/recorder.ts'
import { findCall, type CallPath } from '../../engine/run/find-call.ts'
import { runCall } from '../../engine/run/run-call.ts'
import { createRegistry } from '../../engine/tools/registry.ts'
import { openWorkingState } from '../../engine/tools/working-state.ts'
import type { Deferral } from '../../engine/tools/search/deferral.ts'
import type { Tool } from '../../engine/tools/tool.ts'
import type { ToolResult } from '../../engine/tools/tool-result.ts'
import { protectingPlace, type Sandbox } from '../../sandbox/index.ts'
import { openFor, temporaryDirectory } from '../sandbox/helpers.ts'

type Setting = {
  readonly tools: readonly Tool[]
  /** The tools of MCP servers. Default: none. */
  readonly mcp?: readonly Tool[]
  readonly deferral?: Deferral
  readonly hooks?: CallHooks
  /** Hooks for background tasks. Default: none. */
  readonly taskHooks?: TaskHooks
  readonly attended?: boolean
  /** The directory for complete outputs. Default: a fresh directory. */
  readonly outputs?: string
  /** The engine's environment. Default: no variables. */
  readonly env?: Readonly<NodeJS.ProcessEnv>
  readonly approvalMode?: ApprovalMode
  /** The Guardian's rules. Default: none. */
  readonly rules?: RuleSet
  /** The sandbox. Default: unconfined, in a fresh directory. */
  readonly sandbox?: Sandbox
}

/** The path that tool calls take, and everything that tests can observe of it. */
export type ObservedPath = {
  readonly path: CallPath
  readonly events: readonly RunEvent[]
  /** Complete outputs that were stored. */
  readonly kept: readonly Uint8Array[]
  /** Sends one call through the path. `input` is sent as JSON, or unchanged if it is a string. */
  readonly call: (name: string, input: unknown, signal?: AbortSignal) => Promise<ToolResult>
}

/** Creates everything that a tool call passes through, with the real Guardian, sandbox and event stream. */
export async function openPath(setting: Setting): Promise<ObservedPath> {
  const { tools, mcp = [], hooks = noHooks, attended = false, approvalMode = 'never' } = setting
  const { deferral = { mode: 'off' } } = setting
  const directory = await temporaryDirectory()
  const sandbox = setting.sandbox ?? (await openFor({ mode: 'danger-full-access', workspace: directory }))
  const events: RunEvent[] = []
  const kept: Uint8Array[] = []
  const keep = (bytes: Uint8Array): string => {
    const file = join(setting.outputs ?? directory, `output-${kept.push(bytes)}.txt`)
    writeFileSync(file, bytes)
    return file
  }
  const path: CallPath = {
    registry: createRegistry({ builtIn: tools, mcp, attended, deferral }),
    hooks,
    attended,
    recorder: new Recorder([{ event: (event) => events.push(event) }]),
    context: {
      workspace: sandbox.policy.workspace,
      sandbox,
      guardian: createGuardian({
        approvalMode,
        ...(setting.rules === undefined ? {} : { rules: setting.rules }),
        reviewer: nobody,
        audit: withoutAuditLog(),
        protects: (path, roots) => protectingPlace(sandbox.policy, path, roots),
      }),
      state: openWorkingState(
        () => sandbox,
        (bytes) => keep(bytes),
        setting.env ?? {},
        setting.taskHooks === undefined ? {} : { taskHooks: setting.taskHooks },
      ),
    },
  }
  return {
    path,
    events,
    kept,
    call: (name, input, signal = new AbortController().signal) =>
      runCall(findCall(toolCall(name, input), path), path, { signal, alone: () => Promise.resolve() }),
  }
}

/** A call as a model would send it. */
export function toolCall(name: string, input: unknown, id = 'call'): ToolCall {
  return { id, name, kind: 'function', input: typeof input === 'string' ? input : JSON.stringify(input) }
}
