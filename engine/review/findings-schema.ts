import * as z from 'zod'
import { categories, severities } from '../core/severities.ts'

const finding = z.strictObject({
  path: z.string().min(1).describe('The file, as the change names it.'),
  start_line: z.int().min(1).describe('The first line, by the numbers that the change is shown with.'),
  end_line: z.int().min(1).describe('The last line; as few lines as show the problem.'),
  severity: z
    .enum(severities)
    .describe(
      'critical: data is lost, or anybody gets in. high: wrong for what users do. medium: wrong in rarer cases. low: worth a word.',
    ),
  category: z.enum(categories),
  confidence: z.number().min(0).max(1).describe('How sure you are that it is real, from 0 to 1.'),
  title: z.string().min(1).max(200).describe('One sentence that says what is wrong.'),
  body: z.string().min(1).max(6000).describe('Markdown: why it is wrong, and when it shows.'),
  suggestion: z
    .string()
    .max(20_000)
    .nullable()
    .describe(
      'A patch that mends it, from "*** Begin Patch" to "*** End Patch", with one "*** Update File:" section for that very file; null where there is no short one.',
    ),
})

/** What a review's model reports. */
export const findingsInput = z.strictObject({
  summary: z.string().max(4000).describe('What you think of the change as a whole, in a few sentences.'),
  findings: z.array(finding).max(200),
})

export type ReportedFinding = z.infer<typeof finding>

/** The same as JSON Schema, for the model. */
export function findingsSchema(): Readonly<Record<string, unknown>> {
  const { $schema: _, ...schema } = z.toJSONSchema(findingsInput, { io: 'input' })
  return schema
}

/** What is wrong with a report, by field; nothing where it is as it should be. */
export function schemaErrors(value: unknown): readonly string[] {
  const result = findingsInput.safeParse(value)
  if (result.success) return []
  return result.error.issues.map(({ path, message }) => `${path.join('.') || 'the report'}: ${message}`)
}
