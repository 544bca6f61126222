import process from 'node:process'
import { exitCodes } from '../exit-codes.ts'

/**
 * Turns SIGINT and SIGTERM into an abort, so that a run ends with its terminal event and its summary. A second signal ends
 * the process at once. An error that nobody caught does the same.
 *
 * @returns the signal, aborted with `interrupted`, `terminated` or the error as its reason, and what takes the handlers away again
 */
export function catchInterrupts(): { readonly signal: AbortSignal; readonly dispose: () => void } {
  const controller = new AbortController()
  const handler = (reason: 'interrupted' | 'terminated') => (): void => {
    if (controller.signal.aborted) {
      // What was being drawn stays on a line of its own.
      if (process.stderr.isTTY) process.stderr.write('\n')
      process.exit(exitCodes[reason])
    }
    controller.abort(reason)
  }
  const onInterrupt = handler('interrupted')
  const onTerminate = handler('terminated')
  const onError = (error: unknown): void => {
    if (controller.signal.aborted) process.exit(exitCodes.failed)
    controller.abort(error instanceof Error ? error : new Error(String(error)))
  }
  process.on('uncaughtException', onError)
  process.on('SIGINT', onInterrupt)
  process.on('SIGTERM', onTerminate)
  process.on('SIGHUP', onTerminate)
  return {
    signal: controller.signal,
    dispose: () => {
      process.off('uncaughtException', onError)
      process.off('SIGINT', onInterrupt)
      process.off('SIGTERM', onTerminate)
      process.off('SIGHUP', onTerminate)
    },
  }
}
