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

/** The format for a file's extension; undefined where it is none. */
export function formatOf(file: string): ReportFormat | undefined {
  // GitLab's name for it (`gl-code-quality-report.json`), and the usual ones.
  if (/code-?quality[\w-]{0,20}\.json$/i.test(file)) return 'codequality'
  return byExtension[extname(file).toLowerCase()]
}
