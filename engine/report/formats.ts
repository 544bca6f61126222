import { extname } from 'node:path'

/** The formats of a report. */
export const reportFormats = ['html', 'md', 'json', 'junit', 'sarif', 'codequality', 'annotations'] as const

export type ReportFormat = (typeof reportFormats)[number]

const byExtension: Readonly<Record<string, ReportFormat>> = {
  '.html': 'html',
  '.htm': 'html',
  '.md': 'md',
  '.json': 'json',
  '.sarif': 'sarif',
  '.xml': 'junit',
}

/** The report format that a file's name suggests; undefined if it suggests none. */
export function formatOf(file: string): ReportFormat | undefined {
  // This matches GitLab's own file name (`gl-code-quality-report.json`) and the common variants of it.
  if (/code-?quality[\w-]{0,20}\.json$/i.test(file)) return 'codequality'
  return byExtension[extname(file).toLowerCase()]
}
