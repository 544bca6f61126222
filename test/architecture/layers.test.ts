import { expect, test } from 'vitest'
import { imports, sources } from './sources.ts'

/** The folders of `engine`, lowest layer first: a folder may import folders in earlier rows of this list, but no other folder in its own row. */
const layers = [
  ['core'],
  ['models'],
  ['escalation'],
  ['tools'],
  ['config'],
  ['session'],
  ['transaction'],
  ['run'],
  ['hooks', 'approvals', 'memory', 'mcp', 'telemetry', 'review'],
  ['skills'],
  ['agents'],
  ['app', 'display'],
  ['report'],
  ['batch'],
  ['cli', 'library'],
]

/** The programs and the library's entry point. They may import from every layer. */
const entryPoints = ['engine/index.ts', 'engine/main.ts', 'engine/sandbox-main.ts']

const layerOf = (file: string): number => layers.findIndex((folders) => folders.includes(file.split('/')[1] ?? ''))

test('every file of the engine is in a layer', () => {
  expect(sources('engine').filter((file) => layerOf(file) < 0 && !entryPoints.includes(file))).toEqual([])
})

test('a layer of the engine imports only lower ones', () => {
  const upwards = sources('engine')
    .filter((file) => !entryPoints.includes(file))
    .flatMap((file) =>
      imports(file)
        .filter(({ target }) => target?.startsWith('engine/') === true)
        .filter(({ target = '' }) => target.split('/')[1] !== file.split('/')[1] && layerOf(target) >= layerOf(file))
        .map(({ target = '', line }) => `${file}:${line} imports ${target}`),
    )
  expect(upwards).toEqual([])
})
