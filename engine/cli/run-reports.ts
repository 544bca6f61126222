import process from 'node:process'
import { holdOutput, readHostFile } from '../../sandbox/index.ts'
import type { Sink } from '../core/events.ts'
import { UserError } from '../core/user-error.ts'
import type { ExecOptions } from './exec-options.ts'
import { openReportFile, requireFormat } from './report-command.ts'

/** GitHub's size limit for a step summary, including what the step wrote earlier. */
const mostSummaryBytes = 1024 * 1024

/** The writer of a run's reports. */
type RunReports = {
  /** Receives the run's events, one of which names the session's folder. */
  readonly sink: Sink
  /** Writes the reports. Must be called after the run's terminal event, and before its session may be removed. */
  readonly write: () => Promise<void>
}

/**
 * Opens the destinations of a run's reports before anything runs: the files of `--report`, and GitHub's step summary if there is one.
 *
 * @throws UserError `usage` if a file can't be written, or its name suggests no format
 */
export function openRunReports({ report: files = [], summary, supervised }: ExecOptions): RunReports {
  const reports = files.map((file) => ({ format: requireFormat(file), write: openReportFile(file) }))
  const appendSummary = summary === 'off' ? undefined : openStepSummary(process.env['GITHUB_STEP_SUMMARY'])
  let directory: string | undefined
  return {
    sink: {
      event: (event) => {
        if (event.type === 'thread.started') directory = event.config.session_dir
      },
    },
    write: async () => {
      if (directory === undefined || (reports.length === 0 && appendSummary === undefined)) return
      const { asAttempt, collectReport, renderMarkdown, renderReport } = await import('../report/render-report.ts')
      const report = collectReport(directory)
      if (typeof report === 'string') throw new UserError('failed', `No report: ${report}`)
      const collected = supervised === true ? asAttempt(report) : report
      for (const { format, write } of reports) write(renderReport(collected, format))
      appendSummary?.((remaining) => renderMarkdown(collected, true, remaining))
    },
  }
}

/**
 * Opens GitHub's step summary, to which reports are appended.
 *
 * @param path the value of `GITHUB_STEP_SUMMARY`
 * @returns a function that appends a report if enough space is left: it calls the given renderer with the number of bytes that are left. Undefined if
 * there is no step summary
 * @throws UserError `usage` if the summary can't be written
 */
export function openStepSummary(path: string | undefined): ((make: (remaining: number) => string) => void) | undefined {
  if (path === undefined || path === '') return undefined
  try {
    const held = holdOutput(path)
    return (make) => {
      const earlier = readHostFile(path, { maxBytes: mostSummaryBytes })?.toString() ?? ''
      const remaining = mostSummaryBytes - Buffer.byteLength(earlier)
      // If little space is left, the summary stays as it is, because hardly anything of the report would fit.
      if (remaining > 8192) held.write(earlier + make(remaining))
    }
  } catch (error) {
    const hint = 'The variable GITHUB_STEP_SUMMARY names this file; --summary off disables the summary.'
    throw new UserError('usage', `${path}: the step's summary can't be written: ${(error as Error).message}. ${hint}`, {
      cause: error,
    })
  }
}
