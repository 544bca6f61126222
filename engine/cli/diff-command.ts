import { join } from 'node:path'
import { exitCodes } from '../core/exit-codes.ts'
import { collectReport } from '../report/collect.ts'
import { compareRuns, type ComparedRun } from '../report/compare/compare-runs.ts'
import { comparisonAsJson, renderComparison } from '../report/compare/render-comparison.ts'
import { readRollout } from '../session/rollout.ts'
import { findSessionFolder } from './find-session.ts'
import { printText, printJsonText, terminalWidth } from './print.ts'

/** The number of columns that is assumed if the terminal's width is unknown. */
const columns = 160

/**
 * `agent diff`: compares two sessions, including the files that each of them changed.
 *
 * @returns the exit code: 1 if they differ in more than their figures, such as the cost
 * @throws UserError `usage` if one of them doesn't exist
 */
export function diffCommand(a: string, b: string, options: { readonly json?: true }): number {
  const comparison = compareRuns(readRun(a), readRun(b))
  if (options.json === true) printJsonText(comparisonAsJson(comparison))
  else printText(renderComparison(comparison, terminalWidth() ?? columns))
  return comparison.same ? exitCodes.done : exitCodes.failed
}

function readRun(given: string): ComparedRun {
  const folder = findSessionFolder(given)
  const report = collectReport(folder)
  return {
    rollout: readRollout(join(folder, 'rollout.jsonl')),
    report: typeof report === 'string' ? undefined : report,
  }
}
