import { expect, test } from 'vitest'
import { imports, sources } from './sources.ts'

const rooms = ['engine', 'apply-patch', 'policies', 'sandbox']

test('no file needs, by whatever way, a file that needs it', () => {
  const needs = new Map(
    rooms.flatMap((room) =>
      sources(room).map((file) => [file, imports(file).flatMap(({ target }) => target ?? [])] as const),
    ),
  )
  const done = new Set<string>()
  const circles: string[] = []
  const follow = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '))
    if (done.has(file) || way.includes(file)) return
    for (const next of needs.get(file) ?? []) follow(next, [...way, file])
    done.add(file)
  }
  for (const file of needs.keys()) follow(file, [])
  expect(circles).toEqual([])
})
