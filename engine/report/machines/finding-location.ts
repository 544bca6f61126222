import type { Finding, Report } from '../report-types.ts'
import { relativeTo } from '../report-changes.ts'
import { lastRun } from '../run-facts.ts'

/** Where a finding is, in a file of the workspace. */
type Place = { readonly path: string; readonly startLine: number; readonly endLine: number }

/** A finding's location, if it is in the workspace: readers of such lists know no other files. */
export function placeIn(report: Report, { path, startLine, endLine }: Finding): Place | undefined {
  if (path === undefined) return undefined
  const named = relativeTo(lastRun(report).workspace, path.toWellFormed()).replace(/^(?:\.\/+)+/, '')
  if (named === '' || named.startsWith('/') || named.startsWith('~') || named.split('/').includes('..'))
    return undefined
  const start = lineOf(startLine)
  return { path: named, startLine: start, endLine: Math.max(start, lineOf(endLine ?? start)) }
}

/** A number as one that a line can have: readers refuse a whole list for a line 0. */
export function lineOf(number: number | undefined): number {
  return Math.max(1, Math.trunc(number ?? 1))
}
