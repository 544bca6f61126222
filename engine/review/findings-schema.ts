import * as z from 'zod'
import { categories, severities } from '../core/severities.ts'

const finding = z.strictObject({
  path: z.string().min(1).describe('The path of the file, as given in the change.'),
  start_line: z.int().min(1).describe('The first line, in the line numbers shown with the change.'),
  end_line: z.int().min(1).describe('The last line. Choose the smallest range that shows the problem.'),
  severity: z
    .enum(severities)
    .describe(
      'critical: loses data or gives strangers access. high: wrong in common use. medium: wrong in rarer cases. low: worth mentioning.',
    ),
  category: z.enum(categories),
  confidence: z.number().min(0).max(1).describe('How sure you are that the problem is real, from 0 to 1.'),
  title: z.string().min(1).max(200).describe('One sentence that states the problem.'),
  body: z.string().min(1).max(6000).describe('Markdown: why it is a problem, and when it occurs.'),
  suggestion: z
    .string()
    .max(20_000)
    .nullable()
    .describe(
      'A patch that fixes it, from "*** Begin Patch" to "*** End Patch", with one "*** Update File:" section for the same file; null if there is no short fix.',
    ),
})

/** The input of the tool with which the model reports its findings. */
export const findingsInput = z.strictObject({
  summary: z.string().max(4000).describe('Your overall assessment of the change, in a few sentences.'),
  findings: z.array(finding).max(200),
})

export type ReportedFinding = z.infer<typeof finding>

/** Returns the schema of `findingsInput` as a JSON Schema, for the model. */
export function findingsSchema(): Readonly<Record<string, unknown>> {
  const { $schema: _, ...schema } = z.toJSONSchema(findingsInput, { io: 'input' })
  return schema
}

/** Validates a report. Returns one message per invalid field; none if the report is valid. */
export function schemaErrors(value: unknown): readonly string[] {
  const result = findingsInput.safeParse(value)
  if (result.success) return []
  return result.error.issues.map(({ path, message }) => `${path.join('.') || 'the report'}: ${message}`)
}
