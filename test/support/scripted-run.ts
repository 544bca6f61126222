import process from 'node:process'
import { openRun } from '../../engine/app/open-run.ts'
import type { RunRequest } from '../../engine/app/run-request.ts'
import type { RunEvent, RunSummary } from '../../engine/core/events.ts'
import { ModelError, type HistoryItem, type Model, type ModelEvent, type Usage } from '../../engine/core/model.ts'
import type { Tool } from '../../engine/tools/tool.ts'
import { tempDir } from './temp-dir.ts'

/** The events of one model response. The model may pause between them. The event `end` is appended automatically. */
export type Response = () => AsyncIterable<ModelEvent> | Iterable<ModelEvent>

type Setting = Partial<RunRequest> & {
  readonly responses: readonly Response[]
  /** Tools in addition to the built-in ones. Default: none. */
  readonly tools?: readonly Tool[]
  /** The sandbox mode. Default: `danger-full-access`, which is unconfined. */
  readonly mode?: 'read-only' | 'workspace-write' | 'danger-full-access'
  /** The workspace of the run. Default: a fresh directory. */
  readonly workspace?: string
  /** Additional configuration, as for `-c`. Default: none. */
  readonly overrides?: readonly string[]
}

/** A run in this process, and its outcome. */
export type ScriptedRun = {
  readonly summary: RunSummary
  readonly events: readonly RunEvent[]
  /** The content of the last request, without the description of the environment. */
  readonly history: readonly HistoryItem[]
}

const usage: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
}

/** Performs a run in this process through `openRun`, as any program would, with a scripted model. */
export async function scriptedRun(setting: Setting): Promise<ScriptedRun> {
  const { responses, mode = 'danger-full-access', overrides = [], ...request } = setting
  const events: RunEvent[] = []
  let history: readonly HistoryItem[] = []
  const model = scriptedModel(responses, (items) => (history = items))
  const home = tempDir()
  const run = openRun({
    task: { type: 'prompt', prompt: 'go' },
    workspace: tempDir(),
    environment: { PATH: process.env['PATH'], HOME: home },
    settings: { overrides: [`sandbox_mode=${mode}`, ...overrides] },
    outsideRepository: true,
    model,
    ...request,
  })
  const reading = (async () => {
    for await (const event of run.events) events.push(event)
  })()
  try {
    const summary = await run.result
    await reading
    const first = history.findIndex((item) => item.type !== 'message' || item.role !== 'developer')
    return { summary, events, history: history.slice(first) }
  } finally {
    await run.close()
  }
}

/** A model that gives these responses, one after the other. */
export function scriptedModel(
  responses: readonly Response[],
  seen: (history: readonly HistoryItem[]) => void = () => undefined,
): Model {
  let next = 0
  return {
    name: 'scripted',
    async *respond(request) {
      seen([...request.history])
      const response = responses[next++]
      if (response === undefined) throw new ModelError('replay', 'nothing more is scripted')
      yield* response()
      yield { type: 'end', usage }
    },
  }
}

/** A call in a response. */
export function calls(name: string, input: unknown, id: string): ModelEvent {
  return { type: 'tool_call', call: { id, name, kind: 'function', input: JSON.stringify(input) } }
}

/** A message in a response. */
export function says(text: string): ModelEvent {
  return { type: 'message', text }
}

/** The results in a history, in order, each with the id of its call. */
export function resultsIn(history: readonly HistoryItem[]): readonly (readonly [string, string])[] {
  return history.flatMap((item) => (item.type === 'tool_result' ? [[item.callId, item.output] as const] : []))
}
