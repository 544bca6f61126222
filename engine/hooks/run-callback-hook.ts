import { timeoutSignal } from '../../sandbox/index.ts'
import type { HandlerResult } from './handler-result.ts'
import type { CallbackHandler } from './hooks-schema.ts'
import { readHookOutput } from './output.ts'

/** Asks the program that drives the run. If it doesn't answer in time, or not in the form of a hook's output, the hook has failed. */
export async function runCallbackHook(
  { ask }: CallbackHandler,
  input: Readonly<Record<string, unknown>>,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HandlerResult> {
  const inTime = timeoutSignal(options.timeoutMs)
  try {
    const answer = await ask(input, AbortSignal.any([inTime, options.signal]))
    const said = readHookOutput(JSON.stringify(answer ?? {}))
    return 'problem' in said ? { status: 'failed', reason: said.problem } : { status: 'answered', ...said }
  } catch (error) {
    const why = inTime.aborted ? `it took longer than ${options.timeoutMs / 1000} s` : (error as Error).message
    return { status: 'failed', reason: `the callback failed: ${why}` }
  }
}
