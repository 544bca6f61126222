import { describe, expect, test } from 'vitest'
import { imports, packageOf, sources } from './sources.ts'

/** The packages that each package may import, as in the table in ARCHITECTURE.md. A package imports another one only through its `index.ts`. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  engine: ['apply-patch', 'policies', 'sandbox'],
  policies: [],
  sandbox: [],
  'apply-patch': [],
}

/** Vendor packages, each of which only one file may import, so that its types stay in that file and a lazy import stays lazy. */
const oneFilePackages = ['openai', '@anthropic-ai/sdk', 'dockerode', 'unbash', 'smol-toml', 'unpdf', 'turndown']

describe('dependencies between packages', () => {
  for (const [name, allowed] of Object.entries(mayImport)) {
    test(`${name} imports ${allowed.length === 0 ? 'no other package' : allowed.join(', ')}`, () => {
      const wrong = sources(name).flatMap((file) =>
        imports(file)
          .filter(
            ({ target }) => target !== undefined && packageOf(target) !== name && !allowed.includes(packageOf(target)),
          )
          .map(({ specifier, line }) => `${file}:${line} imports ${specifier}`),
      )
      expect(wrong).toEqual([])
    })

    test(`${name} imports other packages by their index.ts`, () => {
      const wrong = sources(name).flatMap((file) =>
        imports(file)
          .filter(({ target }) => target !== undefined && packageOf(target) !== name)
          .filter(({ target }) => target !== `${packageOf(target ?? '')}/index.ts`)
          .map(({ specifier, line }) => `${file}:${line} imports ${specifier}`),
      )
      expect(wrong).toEqual([])
    })
  }
})

test.each(oneFilePackages)('%s is imported in at most one file', (name) => {
  const importers = Object.keys(mayImport).flatMap((folder) =>
    sources(folder).filter((file) =>
      imports(file).some(({ specifier }) => specifier === name || specifier.startsWith(`${name}/`)),
    ),
  )
  expect(importers.length, importers.join(', ')).toBeLessThanOrEqual(1)
})

test('tools access files and processes only through the sandbox and the patch transaction', () => {
  const reaching = sources('engine/tools').flatMap((file) =>
    imports(file)
      .filter(({ specifier }) => /^(?:node:)?(?:fs|child_process)(?:\/|$)|^execa$/.test(specifier))
      .map(({ specifier, line }) => `${file}:${line} imports ${specifier}`),
  )
  expect(reaching).toEqual([])
})

test('every relative import names a file that exists', () => {
  const broken = Object.keys(mayImport).flatMap((name) =>
    sources(name).flatMap((file) =>
      imports(file)
        .filter(({ specifier, target }) => specifier.startsWith('.') && target === undefined)
        .map(({ specifier, line }) => `${file}:${line} imports ${specifier}`),
    ),
  )
  expect(broken).toEqual([])
})
