import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Model, ModelEvent, ModelRequest, ToolDeclaration, Usage } from '../../../engine/core/model.ts'

export const tools: readonly ToolDeclaration[] = [
  {
    kind: 'function',
    name: 'exec_command',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
  },
  {
    kind: 'freeform',
    name: 'apply_patch',
    description: 'Applies a patch in a string.',
    freeformDescription: 'Applies a patch.',
    grammar: { syntax: 'lark', definition: 'start: "x"' },
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  },
]

/** Builds a request with one user message, with the given changes. */
export function request(change: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: 'Be brief.',
    tools,
    history: [{ type: 'message', role: 'user', text: 'Fix the test.' }],
    threadId: 'thread-1',
    ...change,
  }
}

export const noUsage: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
}

/** Collects everything that a model says, in order. */
export async function collect(model: Model, asked = request(), signal?: AbortSignal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.respond(asked, signal ?? new AbortController().signal)) events.push(event)
  return events
}

/** Collects all events except deltas, which are only for display. */
export async function collectFinished(model: Model, asked = request(), signal?: AbortSignal): Promise<ModelEvent[]> {
  return (await collect(model, asked, signal)).filter((event) => event.type !== 'text_delta')
}

/** Creates a folder that is removed at the end of the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-models-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}
