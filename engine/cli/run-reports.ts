import { basename, dirname, extname, join, resolve } from 'node:path'
import process from 'node:process'
import { holdOutput, readHostFile, realpathSync } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import type { RunSummary, Sink } from '../core/events.ts'
import { UserError } from '../core/user-error.ts'
import type { ExecOptions } from './exec-options.ts'
import type { Conclusion } from '../run/closing.ts'
import { lastRecords } from '../session/event-log.ts'
import { openReportFile, requireFormat } from './report-command.ts'

/** GitHub's size limit for a step summary, including what the step wrote earlier. */
const mostSummaryBytes = 1024 * 1024

/** The writer of a run's reports. */
type RunReports = {
  /** Receives the run's events, one of which names the session's folder. */
  readonly sink: Sink
  /**
   * Writes the reports, and the patch of changes that did not land beside the first of the files. Returns why some could not be written. Undefined: nothing is
   * to be written.
   */
  readonly write: ((conclusion: Conclusion) => Promise<readonly string[]>) | undefined
}

/**
 * Opens the destinations of a run's reports before anything runs: the files of `--report`, and GitHub's step summary if there is one.
 *
 * @throws UserError `usage` if a file can't be written, or its name suggests no format
 */
export function openRunReports({
  report: files = [],
  outputLastMessage,
  summary: stepSummary,
  supervised,
}: ExecOptions): RunReports {
  const reports = files.map((file) => ({ format: requireFormat(file), write: openReportFile(file) }))
  const appendSummary = stepSummary === 'off' ? undefined : openStepSummary(process.env['GITHUB_STEP_SUMMARY'])
  const beside = files[0] ?? outputLastMessage
  let directory: string | undefined
  let roots: readonly string[] = []
  return {
    sink: {
      event: (event) => {
        if (event.type !== 'thread.started') return
        directory = event.config.session_dir
        roots = event.config.transaction?.roots ?? []
      },
    },
    write: beside === undefined && appendSummary === undefined ? undefined : write,
  }

  async function write({ summary, events }: Conclusion): Promise<readonly string[]> {
    const unkept = beside === undefined ? [] : failureOf(() => keepPatch(summary.transaction, beside, roots))
    if (directory === undefined || (reports.length === 0 && appendSummary === undefined)) return unkept
    const { asAttempt, asOfJob, collectReport, renderMarkdown, renderReport } =
      await import('../report/render-report.ts')
    const report = collectReport(directory, lastRecords(events, summary))
    if (typeof report === 'string') return [...unkept, `No report: ${report}`]
    const collected = asOfJob(supervised === true ? asAttempt(report) : report, process.env)
    const writers = [
      ...reports.map(
        ({ format, write }) =>
          () =>
            write(renderReport(collected, format)),
      ),
      () => appendSummary?.((remaining) => renderMarkdown(collected, true, remaining)),
    ]
    return [...unkept, ...writers.flatMap(failureOf)]
  }
}

/** The maximum size of a patch that is copied, in bytes. */
const largestPatch = 256 * 1024 * 1024

/**
 * Copies the patch of changes that did not land to `NAME.changes.patch` beside a file, because the folder of the session may be gone by the time that
 * somebody looks for them. Nothing is added to the trees of the run.
 */
function keepPatch(transaction: RunSummary['transaction'], file: string, roots: readonly string[]): void {
  if (transaction === undefined || ['landed', 'nothing'].includes(transaction.outcome)) return
  const directory = realpathSync(dirname(resolve(file)))
  const patch = readHostFile(transaction.patch, { maxBytes: largestPatch })
  if (patch === undefined || patch.length === 0 || roots.some((root) => isInside(directory, root))) return
  holdOutput(join(directory, `${basename(file, extname(file))}.changes.patch`), true).write(patch)
}

/** Runs a writer. Returns why it failed, so that the other reports are written all the same. */
function failureOf(write: () => void): readonly string[] {
  try {
    write()
    return []
  } catch (error) {
    return [(error as Error).message]
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
  const failure = (error: unknown): UserError => {
    const hint = 'The variable GITHUB_STEP_SUMMARY names this file; --summary off disables the summary.'
    const words = `${path}: the step's summary can't be written: ${(error as Error).message}. ${hint}`
    return new UserError('usage', words, { cause: error })
  }
  try {
    const held = holdOutput(path)
    return (make) => {
      const earlier = readHostFile(path, { maxBytes: mostSummaryBytes })?.toString() ?? ''
      const remaining = mostSummaryBytes - Buffer.byteLength(earlier)
      // If little space is left, the summary stays as it is, because hardly anything of the report would fit.
      if (remaining <= 8192) return
      const text = make(remaining)
      try {
        held.write(earlier + text)
      } catch (error) {
        throw failure(error)
      }
    }
  } catch (error) {
    throw failure(error)
  }
}
