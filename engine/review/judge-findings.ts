import type { ItemDraft } from '../core/events.ts'
import type { ReportedFinding } from './findings-schema.ts'
import { isKnown, type KnownFinding } from './known-findings.ts'
import { shortHash, type Places } from './places.ts'
import { trySuggestion } from './try-suggestion.ts'

/** A finding, as an item of the event stream. */
export type Finding = Extract<ItemDraft, { type: 'review_finding' }>

/** The findings that were accepted, and information about what was dropped. */
type Judged = {
  readonly findings: readonly Finding[]
  /** How many findings were about lines outside the change. */
  readonly outside: number
  readonly droppedSuggestions: number
  /** Sentences about dropped findings and suggestions, each with the reason. */
  readonly notices: readonly string[]
}

/** What is needed to check the findings. */
type Measure = {
  readonly places: Places
  readonly known: readonly KnownFinding[]
  /** Reads a file in its reviewed state. Returns undefined if the file can't be read. */
  readonly read: (path: string) => Promise<Buffer | undefined>
}

/**
 * Checks the reported findings against the change. Drops findings that aren't about a line of the change, and suggestions that don't apply. The
 * fingerprint of a finding is computed from its category, its file and the text of the first nonblank line that it is about, not from the line's
 * number or the finding's wording.
 */
export async function judgeFindings(
  reported: readonly ReportedFinding[],
  { places, known, read }: Measure,
): Promise<Judged> {
  const notices: string[] = []
  const seen = new Map<string, number>()
  const findings: Finding[] = []
  let [outside, droppedSuggestions] = [0, 0]
  for (const each of reported) {
    const { path, category, title, suggestion, ...rest } = each
    const place = places.find(each)
    if (place === undefined) {
      outside++
      notices.push(
        `A finding was left out because ${path}:${each.start_line} is not a line of the change ("${title}").`,
      )
      continue
    }
    const replacement = suggestion === null ? undefined : await tried(suggestion, path, read)
    if (typeof replacement === 'string') {
      droppedSuggestions++
      notices.push(`The suggestion for ${path}:${place.startLine} was left out: ${replacement} ("${title}").`)
    }
    const { linePrints, startLine, endLine } = place
    const alike = shortHash([category, path, linePrints[0] ?? ''])
    const before = seen.get(alike) ?? 0
    seen.set(alike, before + 1)
    // A second finding of the same category on the same line needs a fingerprint of its own.
    const fingerprint = before === 0 ? alike : shortHash([alike, String(before)])
    findings.push({
      type: 'review_finding',
      ...{ path, start_line: startLine, end_line: endLine, severity: rest.severity, category },
      ...{ confidence: rest.confidence, title, body: rest.body, fingerprint, line_prints: [...linePrints] },
      ...(suggestion === null || replacement === undefined || typeof replacement === 'string'
        ? {}
        : {
            suggestion,
            replacement: {
              start_line: replacement.startLine,
              end_line: replacement.endLine,
              text: replacement.text,
            },
          }),
      ...(isKnown({ fingerprint, path, title, linePrints }, known) ? { known: true } : {}),
    })
  }
  return { findings, outside, droppedSuggestions, notices }
}

async function tried(
  suggestion: string,
  path: string,
  read: Measure['read'],
): Promise<Awaited<ReturnType<typeof trySuggestion>>> {
  const content = await read(path)
  return content === undefined ? 'the file cannot be read' : trySuggestion(suggestion, path, content)
}
