import process from 'node:process'
import { exitCodes } from '../core/exit-codes.ts'

/**
 * Handles SIGINT, SIGTERM, SIGHUP and uncaught errors so that a run ends with its terminal event and its summary. A second signal or error ends the process at
 * once.
 *
 * @param interrupt called once, with the reason
 * @param farewell returns what to print on standard error when a second signal ends the process; undefined: nothing
 * @returns a function that removes the handlers
 */
export function catchInterrupts(
  interrupt: (reason: 'interrupted' | 'terminated' | Error) => void,
  farewell?: () => string | undefined,
): () => void {
  let interrupted = false
  const stop = (reason: 'interrupted' | 'terminated' | Error): void => {
    interrupted = true
    interrupt(reason)
  }
  const handler = (reason: 'interrupted' | 'terminated') => (): void => {
    if (interrupted) {
      // Starts a new line, because a progress line may be unfinished.
      const words = farewell?.()
      if (process.stderr.isTTY || words !== undefined) process.stderr.write(`\n${words ?? ''}`)
      process.exit(exitCodes[reason])
    }
    stop(reason)
  }
  const onInterrupt = handler('interrupted')
  const onTerminate = handler('terminated')
  const onError = (error: unknown): void => {
    if (interrupted) process.exit(exitCodes.failed)
    stop(error instanceof Error ? error : new Error(String(error)))
  }
  process.on('uncaughtException', onError)
  process.on('SIGINT', onInterrupt)
  process.on('SIGTERM', onTerminate)
  process.on('SIGHUP', onTerminate)
  return () => {
    process.off('uncaughtException', onError)
    process.off('SIGINT', onInterrupt)
    process.off('SIGTERM', onTerminate)
    process.off('SIGHUP', onTerminate)
  }
}
