import process from 'node:process'
import { exitCodes } from '../core/exit-codes.ts'
import { warn } from './warn.ts'
import { tell, isTerminal } from './print.ts'

/** Why a program is to end: because of SIGINT, because of SIGTERM or SIGHUP, or because of an error that nothing has caught. */
export type Interruption = 'interrupted' | 'terminated' | Error

type Handler = (reason: Interruption, signal?: NodeJS.Signals) => void

/** The handlers of this process. Only the last one is called. */
const handlers: Handler[] = []

const signals = [
  ['SIGINT', 'interrupted'],
  ['SIGTERM', 'terminated'],
  ['SIGHUP', 'terminated'],
] as const

function deliver(reason: Interruption, signal?: NodeJS.Signals): void {
  handlers.at(-1)?.(reason, signal)
}

const listeners = signals.map(([signal, reason]) => [signal, (): void => deliver(reason, signal)] as const)

/** Handles SIGINT, SIGTERM and SIGHUP, in place of the present handler. Returns a function that removes the new handler. */
export function onSignals(handler: Handler): () => void {
  if (handlers.length === 0) for (const [signal, listener] of listeners) process.on(signal, listener)
  handlers.push(handler)
  return () => {
    const at = handlers.lastIndexOf(handler)
    if (at === -1) return
    handlers.splice(at, 1)
    if (handlers.length === 0) for (const [signal, listener] of listeners) process.off(signal, listener)
  }
}

/**
 * Handles signals and uncaught errors so that a run ends with its terminal event and its summary. A second signal or error ends the process at once, or as soon
 * as it isn't changing a tree any more.
 *
 * @param interrupt called once, with the reason
 * @param abandon called when a second signal ends the process, with its reason. Reports the end. Default: nothing is reported
 * @returns a function that removes the handlers
 */
export function catchInterrupts(
  interrupt: (reason: Interruption) => void,
  abandon?: (reason: Interruption) => void,
): () => void {
  let interrupted = false
  const remove = onSignals((reason) => {
    if (!interrupted) {
      interrupted = true
      interrupt(reason)
      return
    }
    newLineOfTerminal()
    abandon?.(reason)
    leave(codeOf(reason))
  })
  const onError = (error: unknown): void => deliver(error instanceof Error ? error : new Error(String(error)))
  process.on('uncaughtException', onError)
  return () => {
    process.off('uncaughtException', onError)
    remove()
  }
}

/**
 * Must be called before an operation that happens completely or not at all, such as a landing, because the program must then report the outcome in words and
 * by its exit code. From now on, no signal and no error ends this process before it ends by itself.
 *
 * @param words says what is happening, and when the program ends. Printed once, when a signal arrives
 * @returns a signal that the first interruption aborts, with an `Interruption` as its reason
 */
export function holdSignals(words: string): AbortSignal {
  const held = new AbortController()
  let wasTold = false
  onSignals((reason) => {
    if (!wasTold && !(reason instanceof Error)) {
      wasTold = true
      newLineOfTerminal()
      warn(words)
    }
    held.abort(reason)
  })
  return held.signal
}

/** The text that `holdSignals` prints if a signal arrives while changes land. */
export const whileLanding =
  'Interrupted while the changes were landing. The program exits as soon as all of them have landed, or all are taken back.'

/** From now on, only a second signal ends this process early. The exit code is then `code`, because the outcome has already been reported. */
export function keepExitCode(code: number): void {
  let wasHeard = false
  onSignals(() => {
    if (wasHeard) leave(code)
    wasHeard = true
  })
}

/** Returns what this process must finish before it may exit; undefined if it may exit now. */
let unfinished: () => Promise<unknown> | undefined = () => undefined

/** Sets the work that a signal must not interrupt. Everything that lands changes passes a function that returns the patch transactions in progress. */
export function leaveOnlyAfter(work: typeof unfinished): void {
  unfinished = work
}

/** Ends the process: at once, or as soon as it isn't changing a tree any more. Further signals have no effect. */
export function leave(code: number): void {
  const changing = unfinished()
  if (changing === undefined) process.exit(code)
  warn(
    'Interrupted while files were changing. The program exits as soon as all of them have changed, or all are as before.',
  )
  onSignals(() => undefined)
  void exitAfter(changing, code)
}

async function exitAfter(changing: Promise<unknown>, code: number): Promise<void> {
  for (let rest: Promise<unknown> | undefined = changing; rest !== undefined; rest = unfinished()) await rest
  process.exit(code)
}

/** The exit code of a program that was interrupted. */
export function codeOf(reason: Interruption): number {
  return exitCodes[reason instanceof Error ? 'failed' : reason]
}

/** Starts a new line on the terminal, because a progress line there may be unfinished. */
export function newLineOfTerminal(): void {
  if (isTerminal('stderr')) tell('')
}
