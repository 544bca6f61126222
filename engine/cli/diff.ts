import { join } from 'node:path'
import process from 'node:process'
import { exitCodes } from '../core/exit-codes.ts'
import { collectReport } from '../report/collect.ts'
import { compareRuns, type ComparedRun } from '../report/compare/compare-runs.ts'
import { comparisonAsJson, renderComparison } from '../report/compare/render-comparison.ts'
import { readRollout } from '../session/rollout.ts'
import { findSessionFolder } from './find-session-folder.ts'

/** Where nobody says how wide the terminal is. */
const columns = 160

/**
 * `agent diff`: where two sessions part, and what each changed.
 *
 * @returns the exit code: 1 where they differ
 * @throws UserError `usage` where one of them is not there
 */
export function diffCommand(a: string, b: string, options: { readonly json?: true }): number {
  const comparison = compareRuns(readRun(a), readRun(b))
  const text =
    options.json === true
      ? comparisonAsJson(comparison)
      : renderComparison(comparison, process.stdout.columns ?? columns)
  process.stdout.write(text)
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
