import process from 'node:process'
import { harmless } from '../display/harmless.ts'
import { exitCodes } from '../exit-codes.ts'
import { UserError } from '../user-error.ts'

/** What takes the words of a command line and gives an exit code. */
type Program = (argv: readonly string[]) => Promise<number>

/** The same program, which says on stderr what it would throw: in one line, without a stack trace. */
export function reporting(run: Program): Program {
  return async (argv) => {
    // A reader that goes away (`agent exec … | head -1`) must not end the run with a stack trace.
    process.stdout.on('error', ignoreClosedPipe)
    process.stderr.on('error', ignoreClosedPipe)
    try {
      return await run(argv)
    } catch (error) {
      if (error instanceof UserError) {
        // It may repeat what a repository wrote.
        process.stderr.write(`agent: ${harmless(error.message)}\n`)
        return exitCodes[error.reason]
      }
      const message = error instanceof Error ? error.message : String(error)
      process.stderr.write(`agent: failed inside: ${message}. This is a fault in Portcullis, please report it.\n`)
      if (process.env['PORTCULLIS_DEBUG'] !== undefined && error instanceof Error)
        process.stderr.write(`${error.stack}\n`)
      return exitCodes.failed
    }
  }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
