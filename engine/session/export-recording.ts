import type { HistoryItem, ModelEvent } from '../core/model.ts'
import { noUsage } from '../core/usage.ts'
import { expectation, recordedResponse, recordingLine } from '../models/record.ts'
import type { ReadRollout } from './rollout.ts'
import { firstPrompt, stepsOf } from './steps.ts'

/** A session as a recording, and what the recording can't reproduce. */
type ExportedRecording = { readonly text: string; readonly doubts: readonly string[] }

/** The text that replaces a secret in a session's files. */
const masked = '[redacted]'

/**
 * Turns a session into a recording for `replay:FILE`, with its prompt, as `--record` would have written it. Where a secret was masked in the prompt
 * or in the result of a call, the replay accepts any text.
 */
export function exportRecording(rollout: ReadRollout, version: string): ExportedRecording {
  const { session, model, original, end } = rollout
  const steps = stepsOf(rollout)
  const prompt = firstPrompt(rollout)
  const cwd = session.workspace
  const note = `Exported by ${version} from the session ${session.thread_id} of ${session.started}.`
  const header = recordingLine({
    portcullis_replay: 1,
    ...(model === undefined ? {} : { model }),
    note,
    ...(prompt === undefined ? {} : { prompt: hideMask(prompt).replaceAll(cwd, '<<cwd>>') }),
  })
  const lines = steps.map(({ items, usage }, at) => {
    const before = steps[at - 1]
    const expect = (before?.calls ?? []).map((call) => {
      const { ok, output } = expectation(call, before?.results ?? [], cwd)
      return { ok, output: typeof output === 'string' ? hideMask(output) : output.map(hideMask) }
    })
    const said = [...items.flatMap(eventOf), { type: 'end' as const, usage: usage ?? noUsage }]
    return recordingLine(recordedResponse(expect, said, cwd))
  })
  const asked = original.filter((item) => item.type === 'message' && item.role === 'user').length
  const handed = steps.flatMap(({ calls }) => calls).filter(({ name }) => name === 'agent' || name === 'send_message')
  return {
    text: [header, ...lines].join(''),
    doubts: [
      ...(asked > 1 ? [`it has ${asked} prompts, but a recording contains only the first`] : []),
      ...(handed.length > 0 ? ['it delegated work to agents, whose conversations are not in the recording'] : []),
      ...(steps.some(({ calls }) => calls.some(({ input }) => input.includes(masked)))
        ? [`secrets in its calls were masked and appear as ${masked}`]
        : []),
      ...(end === undefined ? ['it was cut off, so the recording ends there'] : []),
      ...(original.some((item) => 'images' in item && item.images !== undefined)
        ? ['images in its conversation are not in the recording']
        : []),
    ],
  }
}

function hideMask(text: string): string {
  return text.replaceAll(masked, '<<any>>')
}

/** Converts an item from the model back to the event that delivered it. Returns an empty list for the result of a call. */
function eventOf(item: HistoryItem): readonly ModelEvent[] {
  switch (item.type) {
    case 'message':
      return [{ type: 'message', text: item.text }]
    case 'reasoning':
      return [{ type: 'reasoning', text: item.text }]
    case 'web_search':
      return [{ type: 'web_search', query: item.query, action: item.action }]
    case 'tool_call':
      return [{ type: 'tool_call', call: item.call }]
    case 'tool_result':
      return []
    default:
      return item satisfies never
  }
}
