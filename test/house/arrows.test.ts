import { describe, expect, test } from 'vitest'
import { imports, roomOf, sources } from './sources.ts'

/** Which room may import which: DESIGN's table. A room reaches another only through its `index.ts`. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  engine: ['apply-patch', 'policies', 'sandbox'],
  policies: [],
  sandbox: [],
  'apply-patch': [],
}

/** Vendor packages that only one file may import, so that their types stay there and a lazy door stays a door. */
const oneFilePackages = ['openai', '@anthropic-ai/sdk', 'dockerode', 'unbash', 'smol-toml', 'unpdf', 'turndown']

describe('the arrows between rooms', () => {
  for (const [room, allowed] of Object.entries(mayImport)) {
    test(`${room} imports ${allowed.length === 0 ? 'no other room' : allowed.join(', ')}`, () => {
      const wrong = sources(room).flatMap((file) =>
        imports(file)
          .filter(({ target }) => target !== undefined && roomOf(target) !== room && !allowed.includes(roomOf(target)))
          .map(({ specifier, line }) => `${file}:${line} imports ${specifier}`),
      )
      expect(wrong).toEqual([])
    })

    test(`${room} enters other rooms by their index.ts`, () => {
      const wrong = sources(room).flatMap((file) =>
        imports(file)
          .filter(({ target }) => target !== undefined && roomOf(target) !== room)
          .filter(({ target }) => target !== `${roomOf(target ?? '')}/index.ts`)
          .map(({ specifier, line }) => `${file}:${line} imports ${specifier}`),
      )
      expect(wrong).toEqual([])
    })
  }
})

test.each(oneFilePackages)('%s is imported in one file at most', (name) => {
  const importers = Object.keys(mayImport).flatMap((room) =>
    sources(room).filter((file) =>
      imports(file).some(({ specifier }) => specifier === name || specifier.startsWith(`${name}/`)),
    ),
  )
  expect(importers.length, importers.join(', ')).toBeLessThanOrEqual(1)
})

test('no tool reaches files or processes but through the sandbox and the patch transaction', () => {
  const reaching = sources('engine/tools').flatMap((file) =>
    imports(file)
      .filter(({ specifier }) => /^(?:node:)?(?:fs|child_process)(?:\/|$)|^execa$/.test(specifier))
      .map(({ specifier, line }) => `${file}:${line} imports ${specifier}`),
  )
  expect(reaching).toEqual([])
})

test('every relative import names a file that exists', () => {
  const broken = Object.keys(mayImport).flatMap((room) =>
    sources(room).flatMap((file) =>
      imports(file)
        .filter(({ specifier, target }) => specifier.startsWith('.') && target === undefined)
        .map(({ specifier, line }) => `${file}:${line} imports ${specifier}`),
    ),
  )
  expect(broken).toEqual([])
})
