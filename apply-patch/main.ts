/** The `apply-patch` program, as it runs from its sources. */
import process from 'node:process'
import { runProgram } from './cli/run-program.ts'

process.exitCode = await runProgram(process.argv.slice(2))
