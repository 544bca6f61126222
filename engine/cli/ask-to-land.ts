import process from 'node:process'
import { exitCodes } from '../core/exit-codes.ts'
import type { RunSummary } from '../core/run-summary.ts'
import type { ExecOptions } from './exec-options.ts'
import { onSignals } from './interrupts.ts'
import { isPersonThere, openOwnTerminal } from './own-terminal.ts'
import { isInCi, tell } from './print.ts'

/** How long to wait for an answer, in milliseconds. A terminal doesn't prove that somebody sits at it. */
const longestWait = 120_000

const prompt = '(l)and, (k)eep or (d)iscard? '

/**
 * The run whose changes a person should decide about now: they have not landed, and a person at a terminal may expect that they have. With `--land never` or
 * `always`, the person has decided before.
 *
 * @returns undefined if nobody is to be asked
 */
export function keptForAnswer(
  { exitCode, transaction }: Pick<RunSummary, 'exitCode' | 'transaction'>,
  options: Pick<ExecOptions, 'json' | 'land' | 'ephemeral'>,
): string | undefined {
  if (transaction === undefined || options.ephemeral === true || exitCode === exitCodes.terminated) return undefined
  const { land = 'on-success' } = options
  const isLeft =
    (transaction.outcome === 'kept' || transaction.outcome === 'conflict') &&
    transaction.files + transaction.ignored.files + transaction.repositories.length > 0
  const isAsked = isPersonThere(options) && !isInCi()
  if (land === 'ask' && isLeft && !isAsked) tell('--land ask: nobody is there to ask, so the changes are kept.')
  return isLeft && isAsked && (land === 'ask' || land === 'on-success') ? transaction.run : undefined
}

/**
 * Asks the person at the terminal what to do with the changes that a run has left in its view, and does it. No answer, the end of input and every signal mean
 * that they are kept.
 *
 * @param code the exit code of the run
 * @returns `code`, or that of the landing if only the landing failed
 */
export async function askToLand(run: string, code: number): Promise<number> {
  const stopped = new AbortController()
  const forget = onSignals(() => stopped.abort())
  const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(longestWait)])
  const ask = openOwnTerminal()
  const answer = await ask({ text: prompt, prompt, read }, signal).catch(() => undefined)
  // An open stream would keep the process alive.
  process.stdin.destroy()
  forget()
  if (answer === undefined) tell('')
  if (answer === undefined || answer === 'keep') return code
  const done = answer === 'land' ? await land(run) : await discard(run)
  return code === exitCodes.done ? done : code
}

function read(line: string): 'land' | 'keep' | 'discard' | undefined {
  return (['land', 'keep', 'discard'] as const).find((word) => [word, word[0]].includes(line.trim().toLowerCase()))
}

async function land(run: string): Promise<number> {
  const { applyCommand } = await import('./apply-changes.ts')
  return applyCommand(run, [], {}, tell)
}

async function discard(run: string): Promise<number> {
  const { discardCommand } = await import('./changes-command.ts')
  return discardCommand(run, tell)
}
