import type { Report } from './report-types.ts'

/** The report as data, for programs. `version` is incremented when a field changes its meaning or is removed. */
export function writeJson(report: Report): string {
  return `${JSON.stringify({ version: 1, ...report }, undefined, 2)}\n`
}
