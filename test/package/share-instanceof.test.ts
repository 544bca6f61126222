import { expect, test } from 'vitest'
import { PatchError } from '../../apply-patch/index.ts'
import { UserError } from '../../engine/index.ts'
import { RuleError } from '../../policies/index.ts'
import { SandboxError } from '../../sandbox/index.ts'

/** Loads a built package. Its classes are not the same objects as the classes of the sources. */
const built = async (packageName: string): Promise<Record<string, new (...given: unknown[]) => object>> =>
  (await import(new URL(`../../dist/${packageName}/index.js`, import.meta.url).href)) as never

test.each([
  ['apply-patch', 'PatchError', ['malformed', [{ code: 'not-utf8' }]], PatchError],
  ['engine', 'UserError', ['usage', 'wrong'], UserError],
  ['policies', 'RuleError', ['a.rules', { line: 1, column: 1 }, 'wrong', 'right'], RuleError],
  ['sandbox', 'SandboxError', ['closed', { backend: 'docker' }], SandboxError],
] as const)('an error of another copy of %s is an instance of %s here', async (packageName, name, given, own) => {
  const Other = (await built(packageName))[name]
  expect(Other).toBeDefined()
  if (Other === undefined) return
  const error = new Other(...given)
  expect([Other === (own as unknown), error instanceof own]).toEqual([false, true])
})

test('a subclass and other errors do not count as instances', () => {
  class Special extends UserError {}
  const plain = new UserError('usage', 'wrong')
  expect([plain instanceof Special, new Special('usage', 'x') instanceof UserError]).toEqual([false, true])
  const others: readonly unknown[] = [
    new Error('x'),
    new RuleError('a', { line: 1, column: 1 }, 'x', 'y'),
    'text',
    null,
  ]
  expect(others.filter((one) => one instanceof UserError)).toEqual([])
})
