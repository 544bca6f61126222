import process from 'node:process'
import { runProgram } from './cli/program.ts'
import { harmless } from './display/harmless.ts'
import { exitCodes } from './exit-codes.ts'
import { UserError } from './user-error.ts'

// A reader that goes away (`agent exec … | head -1`) must not end the run with a stack trace.
process.stdout.on('error', ignoreClosedPipe)
process.stderr.on('error', ignoreClosedPipe)

try {
  end(await runProgram(process.argv.slice(2)))
} catch (error) {
  if (error instanceof UserError) {
    // It may repeat what a repository wrote.
    process.stderr.write(`agent: ${harmless(error.message)}\n`)
    end(exitCodes[error.reason])
  } else {
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`agent: failed inside: ${message}. This is a fault in Portcullis, please report it.\n`)
    if (process.env['PORTCULLIS_DEBUG'] !== undefined && error instanceof Error)
      process.stderr.write(`${error.stack}\n`)
    end(exitCodes.failed)
  }
}

/** Leaves once what was written is out, whatever else still holds a pipe or a timer. */
function end(code: number): void {
  process.exitCode = code
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
