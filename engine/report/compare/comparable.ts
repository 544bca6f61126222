import type { HistoryItem } from '../../core/model.ts'
import { generalize } from '../../models/record.ts'
import type { Step } from '../../session/steps.ts'

/** A call without its ids, times and other details that differ from run to run even if the runs do the same thing. */
export type ComparableCall = {
  readonly name: string
  /** The arguments of a function, sorted by name, or the text of a freeform call. */
  readonly input: Readonly<Record<string, unknown>> | string
  readonly result: { readonly ok: boolean; readonly output: string } | undefined
}

/**
 * A step without the details that differ from run to run even if the runs do the same thing: ids, times, the paths of the workspace and of temporary files, and
 * the order of parallel calls.
 */
export type ComparableStep = {
  readonly number: number
  readonly calls: readonly ComparableCall[]
  /** The model's text in this step. */
  readonly text: string
  /** Identifies what the step does: two steps have the same key if they make the same calls with the same arguments. */
  readonly key: string
}

/**
 * Converts a step to the form in which steps are compared.
 *
 * @param cwd the workspace that the session worked in
 */
export function comparableStep(step: Step, cwd: string): ComparableStep {
  const calls = step.calls
    .map((call): ComparableCall => {
      const result = step.results.find(({ callId }) => callId === call.id)
      const returned = result && { ok: result.ok, output: withoutTimes(generalize(result.output, cwd)) }
      return { name: call.name, input: inputOf(generalize(call.input, cwd)), result: returned }
    })
    .toSorted((a, b) => order(keyOf(a), keyOf(b)))
  const text = step.items.flatMap((item) => (item.type === 'message' ? [item.text] : [])).join('\n')
  const said = generalize(text, cwd)
  const key = calls.length === 0 ? 'says' : calls.map(keyOf).join('\n')
  return { number: step.number, calls, text: said, key }
}

/**
 * Returns the text of a message in the form in which texts are compared: placeholders replace what differs from run to run, such as times, ids and the
 * workspace. Empty for any other item.
 */
export function comparableText(item: HistoryItem, cwd: string): string {
  return item.type === 'message' ? `${item.role}: ${withoutTimes(generalize(item.text, cwd))}` : ''
}

function keyOf({ name, input }: ComparableCall): string {
  return JSON.stringify([name, input])
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function inputOf(text: string): ComparableCall['input'] {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return text
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => order(a, b)))
  } catch {
    // This is a freeform call, or invalid JSON from the model.
    return text
  }
}

function withoutTimes(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\d/g, '[date]')
    .replace(/\d\d:\d\d:\d\d[.\d]{0,10}/g, '[time]')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '[id]')
    .replace(/\b(pid|PID|process|session)(:?) \d+\b/g, '$1$2 [number]')
}
