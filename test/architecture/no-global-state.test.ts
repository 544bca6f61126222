import { expect, test } from 'vitest'
import { code, sources } from './sources.ts'

/** What is this process's alone: twenty runs in it would share it, and whoever embeds one hasn't asked for that. */
const global = /\bprocess\.(?:env|argv|stdin|stdout|stderr|cwd|chdir|exit|exitCode|on|once|title|umask)\b/g

/** The variables that an embedded agent has where its caller names none: those of the caller's process, and nothing else of it. */
const defaultEnvironment = /^engine\/library\/agent-request\.ts: process\.env$/

/** The programs and their command line, which are a process; and code that is a process of its own, in the sandbox. */
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
