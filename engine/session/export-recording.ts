import type { HistoryItem, ModelEvent } from '../core/model.ts'
import { noUsage } from '../core/usage.ts'
import { expectation, recordedResponse, recordingLine } from '../models/record.ts'
import type { ReadRollout } from './rollout.ts'
import { firstPrompt, stepsOf } from './steps.ts'

/** A session as a recording, and what the recording can't play again. */
type ExportedRecording = { readonly text: string; readonly doubts: readonly string[] }

/** What a session's files have in place of a secret. */
const masked = '[redacted]'

/**
 * A session as a recording for `replay:FILE`, as `--record` would have written it, with its prompt. What was masked when the session was
 * written may be anything when it is played.
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
      ...(asked > 1
        ? [`it was told something ${asked} times, and a recording starts with the first prompt alone`]
        : []),
      ...(handed.length > 0 ? ['it handed work to agents, whose own conversations are not in it'] : []),
      ...(steps.some(({ calls }) => calls.some(({ input }) => input.includes(masked)))
        ? [`secrets in its calls were masked: there it says ${masked}`]
        : []),
      ...(end === undefined ? ['it was cut off, and ends where it was'] : []),
      ...(original.some((item) => 'images' in item && item.images !== undefined)
        ? ['pictures that it was shown are not in it']
        : []),
    ],
  }
}

function hideMask(text: string): string {
  return text.replaceAll(masked, '<<any>>')
}

/** What the model said, as the event that it came in. */
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
