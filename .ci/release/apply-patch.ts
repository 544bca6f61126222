/** The program `apply-patch` as a single file, which contains its runtime. The launcher in `dist/bin` does the same for Node. */
import process from 'node:process'
import { runProgram } from '../../apply-patch/cli/run-program.ts'
import { findMisread } from '../../sandbox/misread-start.ts'

const words = process.argv.slice(2)
const isOnlyPatch = words.length === 1 && words[0]?.startsWith('-') === false
// If the only argument is a patch that isn't UTF-8, the program itself reports this, as Codex's program does.
const refusal = findMisread(isOnlyPatch ? [] : words)
if (refusal !== undefined) process.stderr.write(`apply-patch: ${refusal}.\n`)
process.exit(refusal === undefined ? await runProgram(words) : 2)
