import { writeAnnotations } from './machines/annotations.ts'
import { writeCodeQuality } from './machines/code-quality.ts'
import { writeJunit } from './machines/run-junit.ts'
import { writeSarif } from './machines/sarif.ts'
import { writeJson } from './json.ts'
import { renderBoundedPage } from './html/bounded-page.ts'
import { renderMarkdown } from './markdown/render-markdown.ts'
import type { Report } from './report-types.ts'
import type { ReportFormat } from './formats.ts'

export { collectReport } from './collect.ts'
export { asOfJob } from './github-job.ts'
export { renderMarkdown } from './markdown/render-markdown.ts'

const renderers: Readonly<Record<ReportFormat, (report: Report) => string>> = {
  html: renderBoundedPage,
  md: renderMarkdown,
  json: writeJson,
  junit: writeJunit,
  sarif: writeSarif,
  codequality: writeCodeQuality,
  annotations: writeAnnotations,
}

/** Adapts the report of a run that is an attempt of a batch: the batch removes the run's tree, and moves the session's folder next to the report. */
export function asAttempt(report: Report): Report {
  const moved = "session, in this page's folder"
  const runs = report.runs.map((run) => ({
    ...run,
    configuration: run.configuration.map(([name, value]) => [name, name === 'session' ? moved : value] as const),
  }))
  return { ...report, runs, isOfBatch: true }
}

/** Renders a report in the given format. */
export function renderReport(report: Report, format: ReportFormat): string {
  return renderers[format](report)
}
