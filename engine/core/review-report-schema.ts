import * as z from 'zod'
import { categories, severities } from './severities.ts'

/** New text for lines of a file, for tools that show a suggestion beside them. */
const replacement = z.object({ start_line: z.int(), end_line: z.int(), text: z.string() })

/** Ours: a finding of a review, at lines that the change it is about has. */
export const findingFields = {
  /** Relative to the workspace. */
  path: z.string(),
  /** Of the file as the change leaves it; of a file that it deletes, as it was. */
  start_line: z.int(),
  end_line: z.int(),
  severity: z.enum(severities),
  category: z.enum(categories),
  /** From 0 to 1, in the model's own judgement. */
  confidence: z.number(),
  title: z.string(),
  /** Markdown. */
  body: z.string(),
  /** A patch in the format of `apply_patch`, which was tried: it applies to the file. */
  suggestion: z.string().optional(),
  /** The same, as lines. */
  replacement: replacement.optional(),
  /** The same for the same finding in another run. */
  fingerprint: z.string(),
  /** One for each of the lines, by which a later run knows the finding again that names some of them only. */
  line_prints: z.array(z.string()),
  /** An earlier report has it. */
  known: z.literal(true).optional(),
}

/** Ours: what a review came to. */
export const reviewReport = z.object({
  /** What was reviewed, in words. */
  of: z.string(),
  /** How many files the change has. */
  files: z.int(),
  /** Findings that no earlier report has, by how bad they are. */
  findings: z.object({ critical: z.int(), high: z.int(), medium: z.int(), low: z.int() }),
  known: z.int(),
  /** Findings that were left out, since they were of no line of the change. */
  outside_change: z.int(),
  /** Suggestions that were left out, since they didn't apply. */
  suggestions_dropped: z.int(),
  /** Files of the change that the model was not shown, since the change is too long. */
  not_shown: z.array(z.string()),
})

export type ReviewReport = z.infer<typeof reviewReport>
