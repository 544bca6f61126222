import { expect, test } from 'vitest'
import { code, imports, sources } from './sources.ts'

const engine = sources('engine')

/** Our files that run inside the sandbox as separate programs. */
const insidePrograms = [
  'engine/tools/repl/session-program.ts',
  'engine/tools/web/fetch-program.ts',
  'engine/tools/files/helper-program.ts',
]

/** Returns the location (`file:line`) of each line in the given files that matches the pattern. */
const found = (files: readonly string[], pattern: RegExp): readonly string[] =>
  files.flatMap((file) =>
    code(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
  )

const filesOf = (places: readonly string[]): readonly string[] => places.map((place) => place.replace(/:\d+$/, ''))

const importersOf = (target: string, name: string): readonly string[] =>
  engine.filter((file) => imports(file).some((one) => one.target === target && one.names.includes(name)))

test('the run loop is called in one place, which assembles runs', () => {
  expect(importersOf('engine/run/run.ts', 'run')).toEqual(['engine/app/assemble-run.ts'])
  expect(found(['engine/app/assemble-run.ts'], /\brun\(\{/)).toHaveLength(1)
  expect(importersOf('engine/app/assemble-run.ts', 'assemble')).toEqual(['engine/app/open-run.ts'])
})

test('the Guardian is asked in one place', () => {
  expect(filesOf(found(engine, /guardian\??\.review\(/i))).toEqual(['engine/tools/review-call.ts'])
})

test('only the command line uses standard streams, signals and exit codes', () => {
  const elsewhere = engine.filter(
    (file) => !/^engine\/(?:cli\/|(?:[a-z]+-)?main\.ts)/.test(file) && !insidePrograms.includes(file),
  )
  expect(found(elsewhere, /\bprocess\.(?:exit|stdin|stdout|stderr|on|once|argv|exitCode)\b/)).toEqual([])
})

test('nothing but the command line imports it', () => {
  const wrong = engine
    .filter((file) => !/^engine\/(?:cli\/|(?:[a-z]+-)?main\.ts)/.test(file))
    .flatMap((file) =>
      imports(file)
        .filter(({ target }) => target?.startsWith('engine/cli/') === true)
        .map(({ target }) => `${file} imports ${target ?? ''}`),
    )
  expect(wrong).toEqual([])
})

test('the parts of a run read only the environment that is passed to them', () => {
  expect(found(sources('engine/app'), /\bprocess\.env\b/)).toEqual([])
})
