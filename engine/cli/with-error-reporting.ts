import process from 'node:process'
import { SandboxError } from '../../sandbox/index.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { explainSystemFault } from '../core/system-fault.ts'
import { UserError } from '../core/user-error.ts'
import { traceInSources } from './trace-in-sources.ts'
import { tell, tellMessage, rawOutput } from './print.ts'

/**
 * A program: takes the arguments of a command line, the name under which it was called, and the reason why it must not start, if there is one. Returns
 * an exit code.
 */
type Program = (argv: readonly string[], name?: string, refusal?: string) => Promise<number>

/** Wraps a program so that it prints errors on stderr instead of throwing them. Stack traces are printed only if `PORTCULLIS_DEBUG` is set. */
export function withErrorReporting(run: Program): Program {
  return async (argv, name = 'agent', refusal) => {
    const output = watchOutput()
    try {
      const code = await run(argv, name, refusal)
      const lost = await output.lost()
      if (lost === undefined || code !== exitCodes.done) return code
      tellMessage(name, lost.message)
      return exitCodes.failed
    } catch (thrown) {
      const error = isCwdGone(thrown) ? new UserError('usage', cwdGone, { cause: thrown }) : thrown
      if (error instanceof UserError) {
        tellMessage(name, error.message)
        return exitCodes[error.reason]
      }
      if (SandboxError.is(error, 'unavailable')) {
        tellMessage(name, error.message)
        return exitCodes.sandboxUnavailable
      }
      const message = error instanceof Error ? error.message : String(error)
      const fault = explainSystemFault(error)
      tellMessage(
        name,
        fault === undefined
          ? `internal error: ${message}. This is a bug in Portcullis: please report it (PORTCULLIS_DEBUG=1 prints where it happened).`
          : `${fault}.`,
      )
      if (process.env['PORTCULLIS_DEBUG'] !== undefined && error instanceof Error)
        tell(...traceInSources(error.stack ?? error.message).split('\n'))
      return exitCodes.failed
    }
  }
}

const cwdGone =
  "The current directory can't be read, for example because it was removed. Change to another one and try again."

/** Whether this is the error with which Node says that the current directory has no path any more. */
function isCwdGone(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd'
}

/**
 * Watches for write errors on standard output. If the reader goes away (`agent exec … | head -1`), the program continues. Any other error, such as a
 * full disk, ends the run; if there is no run, it makes the program fail. Write errors on standard error are ignored, because they can't be reported
 * anywhere.
 */
function watchOutput(): { readonly lost: () => Promise<UserError | undefined> } {
  let lost: UserError | undefined
  rawOutput.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || lost !== undefined) return
    lost = new UserError('failed', `Standard output can't be written: ${error.message}.`)
    // During a run, the run handles this error itself. It is thrown only after all other listeners have been called, because those who wait for the output
    // must learn of the error too.
    if (process.listenerCount('uncaughtException') === 0) return
    process.nextTick(() => {
      throw lost
    })
  })
  rawOutput.stderr.on('error', () => undefined)
  return {
    lost: async () => {
      await new Promise((resolve) => rawOutput.stdout.write('', resolve))
      // Node reports a write error only after the write has returned, so wait until it would have been reported.
      await new Promise((resolve) => setImmediate(resolve))
      return lost
    },
  }
}
