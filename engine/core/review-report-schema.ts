import * as z from 'zod'
import { categories, severities } from './severities.ts'

/** New text that replaces lines of a file, for tools that show suggestions next to the code. */
const replacement = z.object({ start_line: z.int(), end_line: z.int(), text: z.string() })

/** Not in Codex: the fields of a review finding. The finding refers to lines of the reviewed change. */
export const findingFields = {
  /** The path of the file, relative to the workspace. */
  path: z.string(),
  /** The number of the finding's first line in the file after the change; for a deleted file, in the file before the change. */
  start_line: z.int(),
  end_line: z.int(),
  severity: z.enum(severities),
  category: z.enum(categories),
  /** How confident the model is in the finding, from 0 to 1. */
  confidence: z.number(),
  title: z.string(),
  /** The explanation of the finding, in Markdown. */
  body: z.string(),
  /** A patch in `apply_patch` format. The patch is known to apply to the file. */
  suggestion: z.string().optional(),
  /** The same suggestion, as new text in place of some lines of the file. */
  replacement: replacement.optional(),
  /** Identifies the finding. It is computed from the finding's category, its path and its first line that isn't blank. */
  fingerprint: z.string(),
  /** The fingerprints of the finding's lines. By these, a later review recognizes the finding even if it reports only some of the lines. */
  line_prints: z.array(z.string()),
  /** True if an earlier report contains this finding; otherwise absent. */
  known: z.literal(true).optional(),
}

/** Not in Codex: the result of a review. */
export const reviewReport = z.object({
  /** A short description of what was reviewed. */
  of: z.string(),
  /** The number of files in the change. */
  files: z.int(),
  /** The number of findings that are in no earlier report, by severity. */
  findings: z.object({ critical: z.int(), high: z.int(), medium: z.int(), low: z.int() }),
  known: z.int(),
  /** The number of findings that were left out because they are not on a line of the change. */
  outside_change: z.int(),
  /** The number of suggestions that were left out because they didn't apply. */
  suggestions_dropped: z.int(),
  /** Files that were not shown to the model because the change is too long. */
  not_shown: z.array(z.string()),
})

export type ReviewReport = z.infer<typeof reviewReport>
