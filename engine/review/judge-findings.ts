import type { ItemDraft } from '../core/events.ts'
import type { ReportedFinding } from './findings-schema.ts'
import { isKnown, type KnownFinding } from './known-findings.ts'
import { shortHash, type Places } from './places.ts'
import { trySuggestion } from './try-suggestion.ts'

/** A finding as events tell it. */
export type Finding = Extract<ItemDraft, { type: 'review_finding' }>

/** What became of what was reported. */
type Judged = {
  readonly findings: readonly Finding[]
  /** How many were of no line of the change. */
  readonly outside: number
  readonly droppedSuggestions: number
  /** What was left out and why, as sentences. */
  readonly notices: readonly string[]
}

/** What findings are held against. */
type Measure = {
  readonly places: Places
  readonly known: readonly KnownFinding[]
  /** A file as it was reviewed. */
  readonly read: (path: string) => Promise<Buffer | undefined>
}

/**
 * Holds what a model reported against the change: a finding of no line of it is left out, as is a suggestion that doesn't apply. Each gets a
 * fingerprint of what it is of and what its first line says, not of its number nor of how it is worded.
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
      notices.push(`A finding is left out: ${path}:${each.start_line} is no line of the change ("${title}").`)
      continue
    }
    const replacement = suggestion === null ? undefined : await tried(suggestion, path, read)
    if (typeof replacement === 'string') {
      droppedSuggestions++
      notices.push(`The suggestion for ${path}:${place.startLine} is left out: ${replacement} ("${title}").`)
    }
    const { linePrints, startLine, endLine } = place
    const alike = shortHash([category, path, linePrints[0] ?? ''])
    const before = seen.get(alike) ?? 0
    seen.set(alike, before + 1)
    // Of two on one line, the second is another.
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
