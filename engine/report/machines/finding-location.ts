import type { Finding, Report } from '../report-types.ts'
import { relativeTo } from '../report-changes.ts'
import { lastRun } from '../run-facts.ts'

/** The location of a finding in a file of the workspace. */
type Place = { readonly path: string; readonly startLine: number; readonly endLine: number }

/** The location of a finding; undefined if it isn't in the workspace. The programs that read findings accept only files in the workspace. */
export function placeIn(report: Report, { path, startLine, endLine }: Finding): Place | undefined {
  if (path === undefined) return undefined
  const named = relativeTo(lastRun(report).workspace, path.toWellFormed()).replace(/^(?:\.\/+)+/, '')
  if (named === '' || named.startsWith('/') || named.startsWith('~') || named.split('/').includes('..'))
    return undefined
  const start = lineOf(startLine)
  return { path: named, startLine: start, endLine: Math.max(start, lineOf(endLine ?? start)) }
}

/** Turns a number into a valid line number (1 or higher). The programs that read findings reject the whole list if it contains line 0. */
export function lineOf(number: number | undefined): number {
  return Math.max(1, Math.trunc(number ?? 1))
}
