import { extname } from 'node:path'

/** What a report can be written as. */
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

/** The format that a file's name asks for; undefined where it asks for none. */
export function formatOf(file: string): ReportFormat | undefined {
  // What GitLab calls it (`gl-code-quality-report.json`), and what others do.
  if (/code-?quality[\w-]{0,20}\.json$/i.test(file)) return 'codequality'
  return byExtension[extname(file).toLowerCase()]
}
