import { recover, undo } from '../files/index.ts'
import { renderFailure } from '../render/render-failure.ts'
import { renderSummary } from '../render/render-summary.ts'
import { describeError } from './describe-error.ts'
import { LostOutput } from './input.ts'
import { print, printJson, tell, tellText, waits } from './print.ts'
import type { Settings } from './apply-settings.ts'

/**
 * Runs `recover`, `undo` or `prune`, and prints the outcome.
 *
 * @returns the exit code
 */
export async function runCommand(settings: Settings, signal: AbortSignal): Promise<number> {
  const { json } = settings
  try {
    const [facts, text] = await carryOut(settings, signal)
    if (json) printJson({ ok: true, ...facts })
    else print(text)
    return 0
  } catch (error) {
    if (error instanceof LostOutput) {
      tell(`${error.message} The command was carried out.`)
      return 1
    }
    tellText(`${renderFailure(error)}\n`)
    if (json) printJson({ ok: false, ...describeError(error) })
    return 1
  }
}

type Outcome = readonly [facts: object, text: string]

function carryOut({ command, root, durable, abandon, all }: Settings, signal: AbortSignal): Promise<Outcome> {
  if (command === 'undo') return takeBack(root, durable, signal)
  if (command === 'prune') return forgetPatches(all ? undefined : root)
  return recoverFromJournal(root, abandon, signal)
}

async function takeBack(root: string, durable: boolean, signal: AbortSignal): Promise<Outcome> {
  const report = await undo(root, { durable, signal, waits })
  for (const { message } of report.warnings) tell(`warning: ${message}`)
  return [report, renderSummary(report).replace('Success. Updated', 'Success. Took back')]
}

async function forgetPatches(root: string | undefined): Promise<Outcome> {
  const report = (await import('../files/prune.ts')).prune(root)
  const { patches, trees, bytes } = report
  if (patches === 0) return [report, 'Nothing to remove.\n']
  const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`
  const what = `${count(patches, 'patch', 'patches')} of ${count(trees, 'tree', 'trees')}`
  return [report, `Removed the journals of ${what} (${Math.ceil(bytes / 1024)} KiB).\n`]
}

async function recoverFromJournal(root: string, abandon: boolean, signal: AbortSignal): Promise<Outcome> {
  const recovered = await recover({ root, abandon, signal, waits })
  const left = recovered.flatMap(({ leftOver = [] }) => leftOver)
  for (const path of left) tell(`warning: ${path} could not be removed, so it stays; it does no harm`)
  const lines = recovered.map(({ outcome, paths }) => {
    const files = paths.length === 0 ? '(its journal lists no files)' : paths.join(', ')
    return `${outcome}: ${files.replaceAll('\n', '⏎')}\n`
  })
  return [{ recovered }, lines.length === 0 ? 'Nothing to recover.\n' : lines.join('')]
}
