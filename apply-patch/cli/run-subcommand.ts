import { recover, undo } from '../files/index.ts'
import { renderFailure } from '../render/render-failure.ts'
import { renderSummary } from '../render/render-summary.ts'
import { describeError } from './describe-error.ts'
import { LostOutput, write } from './input.ts'
import type { Settings } from './apply-settings.ts'

/**
 * Runs `recover` or `undo` and prints the outcome.
 *
 * @returns the exit code
 */
export async function runCommand(settings: Settings, signal: AbortSignal): Promise<number> {
  const { root, json, durable, command, abandon } = settings
  try {
    const [facts, text] =
      command === 'undo' ? await takeBack(root, durable, signal) : await recoverFromJournal(root, abandon, signal)
    write(1, json ? `${JSON.stringify({ ok: true, ...facts }, null, 2)}\n` : text)
    return 0
  } catch (error) {
    if (error instanceof LostOutput) {
      write(2, `${error.message} The command was carried out.\n`)
      return 1
    }
    write(2, `${renderFailure(error)}\n`)
    if (json) write(1, `${JSON.stringify({ ok: false, ...describeError(error) }, null, 2)}\n`)
    return 1
  }
}

type Outcome = readonly [facts: object, text: string]

async function takeBack(root: string, durable: boolean, signal: AbortSignal): Promise<Outcome> {
  const report = await undo(root, { durable, signal })
  for (const { message } of report.warnings) write(2, `warning: ${message}\n`)
  return [report, renderSummary(report).replace('Success. Updated', 'Success. Took back')]
}

async function recoverFromJournal(root: string, abandon: boolean, signal: AbortSignal): Promise<Outcome> {
  const recovered = await recover({ root, abandon, signal })
  const left = recovered.flatMap(({ leftOver = [] }) => leftOver)
  for (const path of left) write(2, `warning: ${path} could not be removed, so it stays; it does no harm\n`)
  const lines = recovered.map(({ outcome, paths }) => {
    const files = paths.length === 0 ? '(its journal lists no files)' : paths.join(', ')
    return `${outcome}: ${files}\n`
  })
  return [{ recovered }, lines.length === 0 ? 'Nothing to recover.\n' : lines.join('')]
}
