import { extname } from 'node:path'

/** What a report can be written as. */
export const reportFormats = ['html', 'md', 'json'] as const

export type ReportFormat = (typeof reportFormats)[number]

const byExtension: Readonly<Record<string, ReportFormat>> = {
  '.html': 'html',
  '.htm': 'html',
  '.md': 'md',
  '.json': 'json',
}

/** The format that a file's name asks for; undefined where it asks for none. */
export function formatOf(file: string): ReportFormat | undefined {
  return byExtension[extname(file).toLowerCase()]
}
