/** The `apply-patch` program. */
import process from 'node:process'
import { apply } from './cli/apply.ts'
import { isArgumentUtf8, readStandardInput, write } from './cli/input.ts'
import { defaults, type Settings } from './cli/settings.ts'

const usage = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n"

// Codex's way of calling needs no parser of options, and every agent's patch comes this way.
const isPlainCall = (given: readonly string[]): boolean =>
  given.length === 0 || (given.length === 1 && /^(?!-)(?!(?:undo|recover|help)$)/.test(given[0] ?? ''))

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  write(2, `apply-patch: unexpected error: ${message.split('\n')[0] ?? ''}\n`)
  process.exitCode = 1
}

async function main(given: readonly string[]): Promise<number> {
  if (isPlainCall(given)) return run({ ...defaults, patch: given[0] })
  const call = (await import('./cli/parse-arguments.ts')).parseArguments(given)
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
  if (settings.command !== 'apply') return (await import('./cli/run-command.ts')).runCommand(settings, signal)
  if (settings.patch !== undefined) {
    if (isArgumentUtf8(settings.patch)) return apply(settings.patch, settings, signal)
    write(2, 'Error: apply_patch requires a UTF-8 PATCH argument.\n')
    return 1
  }
  const input = readStandardInput()
  if (input.length > 0) return apply(input, settings, signal)
  write(2, usage)
  return 2
}
