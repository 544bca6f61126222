import process from 'node:process'
import { transactionsInProgress } from '../files/index.ts'
import { apply } from './apply.ts'
import { expectShortRun } from './expect-short-run.ts'
import { isArgumentUtf8, LostOutput, readStandardInput } from './input.ts'
import { print, tell, tellText } from './print.ts'
import { defaults, type Settings } from './apply-settings.ts'

const usage = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n"

// Whether the program is called the way Codex and other agents call it: with only a patch, or with no arguments. This needs no option parser.
const isPlainCall = (given: readonly string[]): boolean =>
  given.length === 0 || (given.length === 1 && /^(?!-)(?!(?:undo|recover|prune|help)$)/.test(given[0] ?? ''))

/**
 * Runs the program: applies a patch, undoes one or recovers the tree, and prints the outcome.
 *
 * @param given the arguments of the command line
 * @returns the exit code
 */
export async function runProgram(given: readonly string[]): Promise<number> {
  try {
    return await dispatch(given)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const what = error instanceof LostOutput ? message : `unexpected error: ${message.split('\n')[0] ?? ''}`
    tell(`apply-patch: ${what}`)
    return 1
  }
}

async function dispatch(given: readonly string[]): Promise<number> {
  if (isPlainCall(given)) return run({ ...defaults, patch: given[0] })
  const call = (await import('./parse-arguments.ts')).parseArguments(given)
  if (call.type === 'run') return run(call.settings)
  if (call.to === 1) print(call.text)
  else tellText(call.text)
  return call.exitCode
}

async function run(settings: Settings): Promise<number> {
  if (settings.command !== 'apply') {
    const { runCommand } = await import('./run-subcommand.ts')
    return stoppable((signal) => runCommand(settings, signal))
  }
  const patch = settings.patch ?? readPatch()
  if (patch === undefined) return 2
  if (typeof patch === 'string' && !isArgumentUtf8(patch)) {
    tell('Error: apply_patch requires a UTF-8 PATCH argument.')
    return 1
  }
  return stoppable((signal) => apply(patch, settings, signal))
}

/** Reads the patch from standard input. If there is none, it prints an error message and returns undefined. */
function readPatch(): Buffer | undefined {
  const input = readStandardInput()
  expectShortRun(input.length)
  if (input.length > 0) return input
  tellText(usage)
  return undefined
}

/**
 * Runs `act` so that a signal rolls back a commit that has begun, unless it is past its point of no return. Later signals do nothing, because half a rollback
 * would leave half a patch. A patch is read before this function is called: while the program waits for input, it hasn't changed anything, so a signal may
 * simply end the program.
 */
async function stoppable(act: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const controller = new AbortController()
  let interrupted: number | undefined
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
  ] as const) {
    process.on(signal, () => {
      if (interrupted === undefined && transactionsInProgress() !== undefined) tell(whileChanging)
      interrupted ??= code
      controller.abort()
    })
  }
  const code = await act(controller.signal)
  return code === 0 ? 0 : (interrupted ?? code)
}

const whileChanging =
  'apply-patch: interrupted while files were changing; the program exits as soon as all of them have changed, or all are as before'
