import { expect, test } from 'vitest'
import { imports, sources } from './sources.ts'

const packages = ['engine', 'apply-patch', 'policies', 'sandbox']

test('no file imports, directly or through others, a file that imports it', () => {
  const importsOf = new Map(
    packages.flatMap((name) =>
      sources(name).map((file) => [file, imports(file).flatMap(({ target }) => target ?? [])] as const),
    ),
  )
  const done = new Set<string>()
  const cycles: string[] = []
  const follow = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (done.has(file) || path.includes(file)) return
    for (const next of importsOf.get(file) ?? []) follow(next, [...path, file])
    done.add(file)
  }
  for (const file of importsOf.keys()) follow(file, [])
  expect(cycles).toEqual([])
})
