import { expect, test } from 'vitest'
import { findProgram, knownPrograms } from '../../policies/programs/program-tables.ts'

test('every row of the program tables names its source', () => {
  expect(knownPrograms().filter(({ source }) => source === '')).toEqual([])
})

test('no program is named in two tables', () => {
  const names = knownPrograms().map(({ name }) => name)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test('property names that every object has are not programs', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    expect(findProgram(name)).toBeUndefined()
})

test('a program that is not in the tables runs code, and an option that is not in its row makes a command unknown', async () => {
  const { analyseScript } = await import('../../policies/index.ts')
  expect(analyseScript('frobnicate x').class).toBe('runs-code')
  expect(analyseScript('cat --frobnicate x').class).toBe('unknown')
  expect(analyseScript('git constructor').class).toBe('unknown')
  expect(analyseScript('git remote constructor').class).toBe('unknown')
})

test('letters after one dash are bundled options only if the program’s row says so', async () => {
  const { analyseScript } = await import('../../policies/index.ts')
  const allowed = (line: string): boolean => analyseScript(line).class === 'read-only'
  expect(
    ['ls -la', 'sort -rn a', 'head -n5 a', 'tree -aL 2', 'xxd -l 64 f', 'whereis -b ls'].filter(
      (line) => !allowed(line),
    ),
  ).toEqual([])
  expect(['xxd -pu f', 'xxd -l64 f', 'tree -L2', 'whereis -bm ls', 'ps -eao pid'].filter(allowed)).toEqual([])
})
