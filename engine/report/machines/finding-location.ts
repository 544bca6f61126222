import type { Finding, Report } from '../report-types.ts'
import { relativeTo } from '../report-changes.ts'
import { lastRun } from '../run-facts.ts'

/** Where a finding is, in a file of the workspace. */
type Place = { readonly path: string; readonly startLine: number; readonly endLine: number }

/** A finding's location, if it is in the workspace: readers of such lists know no other files. */
export function placeIn(report: Report, { path, startLine, endLine }: Finding): Place | undefined {
  if (path === undefined) return undefined
  const named = relativeTo(lastRun(report).workspace, path)
  if (named.startsWith('/') || named.startsWith('~') || named.split('/').includes('..')) return undefined
  const start = startLine ?? 1
  return { path: named, startLine: start, endLine: Math.max(start, endLine ?? start) }
}
