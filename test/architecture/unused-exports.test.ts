import { expect, test } from 'vitest'
import { exportedNames, imports, sources } from './sources.ts'

const packages = ['apply-patch', 'engine', 'policies', 'sandbox']

test('every export is imported somewhere, or public through its index.ts', () => {
  const files = [...packages, 'fixtures', 'test'].flatMap(sources)
  const used = new Map<string, Set<string>>()
  for (const file of files) {
    for (const { target, names } of imports(file)) {
      if (target === undefined) continue
      const set = used.get(target) ?? new Set()
      for (const name of names) set.add(name)
      used.set(target, set)
    }
  }
  const unused = packages
    .flatMap(sources)
    .filter((file) => !/^[^/]+\/(?:index|(?:[a-z]+-)?main)\.ts$/.test(file))
    .flatMap((file) =>
      exportedNames(file)
        .filter((name) => !used.get(file)?.has(name) && !used.get(file)?.has('*'))
        .map((name) => `${file}: ${name}`),
    )
  expect(unused).toEqual([])
})
