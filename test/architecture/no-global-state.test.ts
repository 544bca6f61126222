import { expect, test } from 'vitest'
import { code, sources } from './sources.ts'

/**
 * Matches uses of the process's global state. A run must not use it: several runs in one process would share it, and it belongs to the program that
 * embeds them.
 */
const global = /\bprocess\.(?:env|argv|stdin|stdout|stderr|cwd|chdir|exit|exitCode|on|once|title|umask)\b/g

/** Matches the only use that is allowed outside the files in `own`: by default, an embedded agent gets the environment variables of the caller's process. */
const defaultEnvironment = /^engine\/library\/agent-request\.ts: process\.env$/

/**
 * The files that may use the process's global state: the programs and their command line, which own their process, and code that runs as a separate
 * process in the sandbox.
 */
const own = [
  /^engine\/(?:cli\/|main\.ts$|sandbox-main\.ts$)/,
  /^engine\/tools\/(?:repl\/session-program|web\/fetch-program|files\/helper-program)\.ts$/,
]

test('a run depends only on its request: only the command line knows terminals, arguments, variables and signals', () => {
  const reading = sources('engine')
    .filter((file) => !own.some((allowed) => allowed.test(file)))
    .flatMap((file) => [...code(file).matchAll(global)].map(([found]) => `${file}: ${found}`))
    .filter((found) => !defaultEnvironment.test(found))
  expect(reading).toEqual([])
})
