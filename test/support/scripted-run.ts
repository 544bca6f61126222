import { tmpdir } from 'node:os'
import type { RunEvent, RunSummary } from '../../engine/events.ts'
import { ModelError, type HistoryItem, type Model, type ModelEvent, type Usage } from '../../engine/model.ts'
import { run } from '../../engine/run/run.ts'
import type { RunOptions } from '../../engine/run/run-options.ts'
import { ephemeralSession } from '../../engine/session/session.ts'
import { createRegistry } from '../../engine/tools/registry.ts'
import type { Tool } from '../../engine/tools/tool.ts'
import { createGuardian, nobody, withoutAuditLog } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import { openFor, temporaryDirectory } from '../sandbox/helpers.ts'

/** What the model says in one response, piece by piece; it may wait between them. `end` is added. */
export type Response = () => AsyncIterable<ModelEvent> | Iterable<ModelEvent>

type Setting = Partial<RunOptions> & {
  readonly responses: readonly Response[]
  readonly builtIn: readonly Tool[]
  /** Default: unconfined, in a fresh directory. */
  readonly inside?: Sandbox
}

/** A run in this process, and what came of it. */
export type ScriptedRun = {
  readonly summary: RunSummary
  readonly events: readonly RunEvent[]
  /** What the last request held. */
  readonly history: readonly HistoryItem[]
}

const usage: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
}

/** Runs the real loop with a model that says what it is told to, and with the real Guardian and sandbox. */
export async function scriptedRun({ responses, builtIn, inside, ...options }: Setting): Promise<ScriptedRun> {
  const directory = await temporaryDirectory()
  const sandbox = inside ?? (await openFor({ mode: 'danger-full-access', workspace: directory }))
  const events: RunEvent[] = []
  let history: readonly HistoryItem[] = []
  let next = 0
  const model: Model = {
    name: 'scripted',
    async *respond(request) {
      history = [...request.history]
      const response = responses[next++]
      if (response === undefined) throw new ModelError('replay', 'nothing more is scripted')
      yield* response()
      yield { type: 'end', usage }
    },
  }
  const session = ephemeralSession('scripted', tmpdir())
  try {
    const summary = await run({
      model,
      tools: createRegistry({ builtIn }),
      sandbox,
      guard: () => createGuardian({ approvalMode: 'never', reviewer: nobody, audit: withoutAuditLog() }),
      session,
      workspace: sandbox.policy.workspace,
      instructions: '',
      context: [],
      prompt: 'go',
      approvalPolicy: 'never',
      reasoningEffort: undefined,
      budget: {},
      factsOf: () => ({ price: undefined, longestOutput: undefined }),
      compactAt: () => undefined,
      failOnDenied: false,
      sinks: [{ event: (event) => events.push(event) }],
      signal: new AbortController().signal,
      ...options,
    })
    return { summary, events, history }
  } finally {
    session.close()
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

/** The results in a history, by the ids of their calls, in order. */
export function resultsIn(history: readonly HistoryItem[]): readonly (readonly [string, string])[] {
  return history.flatMap((item) => (item.type === 'tool_result' ? [[item.callId, item.output] as const] : []))
}
