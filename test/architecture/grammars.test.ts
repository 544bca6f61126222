import { expect, test } from 'vitest'
import { PatchParser } from '../../apply-patch/parse/grammar.ts'
import { RuleParser } from '../../policies/rules/rules-grammar.ts'
import { imports, sources } from './sources.ts'

test.each([
  ['patches', () => new PatchParser(false)],
  ['rules', () => new RuleParser(false)],
])('the grammar of %s has no ambiguity, which programs do not check when they start', (_, make) => {
  expect(make).not.toThrow()
})

test('zod is imported as a whole module, from which a bundle keeps what is used', () => {
  const named = ['apply-patch', 'engine', 'policies', 'sandbox'].flatMap((name) =>
    sources(name).flatMap((file) =>
      imports(file)
        .filter(({ specifier, names }) => specifier === 'zod' && !names.includes('*'))
        .map(({ line }) => `${file}:${line}`),
    ),
  )
  expect(named).toEqual([])
})
