import { writeJson } from './json.ts'
import { renderPage } from './html/page.ts'
import { renderMarkdown } from './markdown/render.ts'
import type { Report } from './model.ts'
import type { ReportFormat } from './formats.ts'

export { collectReport } from './collect.ts'
export { renderMarkdown } from './markdown/render.ts'

const renderers: Readonly<Record<ReportFormat, (report: Report) => string>> = {
  html: renderPage,
  md: renderMarkdown,
  json: writeJson,
}

/** A report in a format. */
export function renderReport(report: Report, format: ReportFormat): string {
  return renderers[format](report)
}
