import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import { holdOutput } from '../../sandbox/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { UserError } from '../core/user-error.ts'
import { formatOf, reportFormats, type ReportFormat } from '../report/formats.ts'
import { findSessionFolder, type NamedRun } from './find-session.ts'
import { printResult, rawOutput } from './print.ts'

/** The options of `agent report`. */
export type ReportOptions = { readonly output?: string; readonly format?: ReportFormat }

/**
 * `agent report`: writes a report about a session, as a page or in a format for other tools.
 *
 * @param source the id of a session, the beginning or end of an id, the folder of a session, or a file of events; or the newest session of a directory
 * @returns the exit code
 * @throws UserError `usage` if there is no such session, if the file can't be written, or if no format is given and its name suggests none
 */
export async function reportCommand(source: NamedRun, { output, format }: ReportOptions): Promise<number> {
  const wanted = format ?? (output === undefined ? 'html' : requireFormat(output))
  const write = output === undefined ? undefined : openReportFile(output)
  const { asOfJob, collectReport, renderReport } = await import('../report/render-report.ts')
  const collected = collectReport(placeOf(source))
  if (typeof collected === 'string') throw new UserError('usage', collected)
  const text = renderReport(asOfJob(collected, process.env), wanted)
  if (write === undefined) printRendered(text, wanted)
  else write(text)
  return exitCodes.done
}

function printRendered(text: string, format: ReportFormat): void {
  // Annotations are commands for a CI's runner, and only what stands in them is from outside: `annotations.ts` escapes it.
  if (format === 'annotations') rawOutput.stdout.write(text)
  else printResult(text, ['json', 'sarif', 'codequality'].includes(format) ? 'json' : 'text')
}

/**
 * Returns the report format that a file's name suggests.
 *
 * @throws UserError `usage` if the name suggests no format
 */
export function requireFormat(file: string): ReportFormat {
  const format = formatOf(file)
  if (format !== undefined) return format
  throw new UserError(
    'usage',
    `${file}: its name doesn't show which format to write. Use a name that ends in .html, .md, .json, .xml (JUnit), .sarif or codequality.json, or give --format ${reportFormats.join('|')}.`,
  )
}

/**
 * Opens the destination of a report. Only the user can read the file, because it may contain code and prompts.
 *
 * @returns a function that writes the report, and throws a `UserError` if writing fails
 * @throws UserError `usage` if the file can't be written
 */
export function openReportFile(file: string): (text: string) => void {
  const failure = (error: unknown): UserError =>
    new UserError('usage', `${resolve(file)}: the report can't be written there: ${(error as Error).message}.`, {
      cause: error,
    })
  try {
    const held = holdOutput(file, true)
    return (text) => {
      try {
        held.write(text)
      } catch (error) {
        throw failure(error)
      }
    }
  } catch (error) {
    throw failure(error)
  }
}

function placeOf(source: NamedRun): string {
  return typeof source === 'string' && existsSync(source) ? resolve(source) : findSessionFolder(source)
}
