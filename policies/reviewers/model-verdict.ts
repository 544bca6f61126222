import * as z from 'zod'
import { hasRepeatedField } from './repeated-field.ts'

/** Creates the schema of an answer. Most runs have no reviewing model, so this is called only when the schema is first needed. */
const makeShape = () =>
  z.strictObject({
    risk_level: z.enum(['low', 'medium', 'high', 'critical']),
    user_authorization: z.enum(['unknown', 'low', 'medium', 'high']),
    outcome: z.enum(['allow', 'deny']),
    // The text's length is checked here rather than in the schema that is sent, because not every provider supports a minimum length.
    rationale: z.string().refine((text) => text.trim() !== '', 'is empty'),
  })

let shape: ReturnType<typeof makeShape> | undefined

/** What a reviewing model must answer. Every field is required. */
type ModelVerdict = z.infer<ReturnType<typeof makeShape>>

/** The schema of the answer, for models whose output can be forced to follow one. */
export function modelVerdictSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema((shape ??= makeShape()))
}

/** Parses an answer. It must be exactly one JSON object with all the fields of a verdict, each once, and without other fields or surrounding text. */
export function readModelVerdict(text: string): { readonly verdict: ModelVerdict } | { readonly fault: string } {
  const trimmed = text.trim()
  let value: unknown
  try {
    value = JSON.parse(trimmed)
  } catch {
    return { fault: 'it is not a single JSON object without other text' }
  }
  if (hasRepeatedField(trimmed)) return { fault: 'a field is given twice' }
  const parsed = (shape ??= makeShape()).safeParse(value)
  if (parsed.success) return { verdict: parsed.data }
  const { path = [], message = 'not the fields that were asked for' } = parsed.error.issues[0] ?? {}
  return { fault: path.length === 0 ? message : `${path.join('.')}: ${message}` }
}

/**
 * Turns a verdict into a decision. The limits are enforced here rather than left to the model: a critical risk is never allowed, and a high one only
 * if the user explicitly asked for the action.
 */
export function judgeVerdict(verdict: ModelVerdict): { readonly allowed: boolean; readonly reason: string } {
  const { risk_level: risk, user_authorization: authorization, outcome, rationale } = verdict
  if (outcome === 'deny') return { allowed: false, reason: rationale }
  if (risk === 'critical')
    return { allowed: false, reason: `The risk is critical, which is never approved. ${rationale}` }
  if (risk === 'high' && authorization !== 'high') {
    return { allowed: false, reason: `The risk is high, and the user did not explicitly ask for this. ${rationale}` }
  }
  return { allowed: true, reason: rationale }
}
