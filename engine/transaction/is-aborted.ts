import { CommitError } from '../../apply-patch/index.ts'

/**
 * Whether an abort signal was aborted, including by a process signal, such as SIGINT, that arrived while the event loop was blocked, for example
 * by planning. Node calls the handlers of process signals only when the loop polls, which happens at least once between two `setImmediate` callbacks.
 */
export async function isAborted(signal: AbortSignal | undefined): Promise<boolean> {
  if (signal === undefined) return false
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  return signal.aborted
}

/** Whether a transaction failed only because it was interrupted, and the tree is unchanged. */
export function isInterruption(error: unknown): boolean {
  return error instanceof CommitError && error.code === 'aborted' && error.tree === 'unchanged'
}
