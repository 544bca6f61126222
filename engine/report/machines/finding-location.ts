import type { Finding, Report } from '../report-types.ts'
import { relativeTo } from '../report-changes.ts'
import { lastRun } from '../run-facts.ts'

/** The location of a finding in a file of the workspace. */
type Place = { readonly path: string; readonly startLine: number; readonly endLine: number }

/** The location of a finding, if it is in the workspace. Programs that read such lists know no other files. */
export function placeIn(report: Report, { path, startLine, endLine }: Finding): Place | undefined {
  if (path === undefined) return undefined
  const named = relativeTo(lastRun(report).workspace, path.toWellFormed()).replace(/^(?:\.\/+)+/, '')
  if (named === '' || named.startsWith('/') || named.startsWith('~') || named.split('/').includes('..'))
    return undefined
  const start = lineOf(startLine)
  return { path: named, startLine: start, endLine: Math.max(start, lineOf(endLine ?? start)) }
}

/** Turns a number into a valid line number. Programs that read such lists reject the whole list if it contains line 0. */
export function lineOf(number: number | undefined): number {
  return Math.max(1, Math.trunc(number ?? 1))
}
