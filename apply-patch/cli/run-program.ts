import process from 'node:process'
import { apply } from './apply.ts'
import { expectShortRun } from './expect-short-run.ts'
import { isArgumentUtf8, readStandardInput, write } from './input.ts'
import { defaults, type Settings } from './settings.ts'

const usage = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n"

// Codex's way of calling needs no parser of options, and every agent's patch comes this way.
const isPlainCall = (given: readonly string[]): boolean =>
  given.length === 0 || (given.length === 1 && /^(?!-)(?!(?:undo|recover|help)$)/.test(given[0] ?? ''))

/**
 * The program: reads the patch, applies it, prints the outcome.
 *
 * @param given the arguments of the command line
 * @returns the exit code
 */
export async function runProgram(given: readonly string[]): Promise<number> {
  try {
    return await dispatch(given)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    write(2, `apply-patch: unexpected error: ${message.split('\n')[0] ?? ''}\n`)
    return 1
  }
}

async function dispatch(given: readonly string[]): Promise<number> {
  if (isPlainCall(given)) return run({ ...defaults, patch: given[0] })
  const call = (await import('./parse-arguments.ts')).parseArguments(given)
  if (call.type === 'run') return run(call.settings)
  write(call.to, call.text)
  return call.exitCode
}

async function run(settings: Settings): Promise<number> {
  const controller = new AbortController()
  let interrupted: number | undefined
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => {
      interrupted = code
      controller.abort()
    })
  }
  const code = await start(settings, controller.signal)
  return code === 0 ? 0 : (interrupted ?? code)
}

async function start(settings: Settings, signal: AbortSignal): Promise<number> {
  if (settings.command !== 'apply') return (await import('./run-command.ts')).runCommand(settings, signal)
  if (settings.patch !== undefined) {
    if (isArgumentUtf8(settings.patch)) return apply(settings.patch, settings, signal)
    write(2, 'Error: apply_patch requires a UTF-8 PATCH argument.\n')
    return 1
  }
  const input = readStandardInput()
  expectShortRun(input.length)
  if (input.length > 0) return apply(input, settings, signal)
  write(2, usage)
  return 2
}
