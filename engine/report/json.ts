import type { Report } from './report-types.ts'

/** Renders the report as JSON for programs. `version` is incremented when a field is removed or changes its meaning. */
export function writeJson(report: Report): string {
  return `${JSON.stringify({ version: 1, ...report }, undefined, 2)}\n`
}
