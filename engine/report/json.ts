import type { Report } from './report-types.ts'

/** The report as it is read, for programs. `version` counts up when a field changes its meaning or goes away. */
export function writeJson(report: Report): string {
  return `${JSON.stringify({ version: 1, ...report }, undefined, 2)}\n`
}
