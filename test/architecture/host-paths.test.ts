import { expect, test } from 'vitest'
import { code, imports, sources } from './sources.ts'

/**
 * Files of the sandbox that call `node:fs` by path, and how they keep paths that aren't UTF-8 intact. All others use `sandbox/host-paths.ts`, because
 * Node replaces bytes that aren't UTF-8, so that a call would use another file.
 */
const own: Readonly<Record<string, string>> = {
  'sandbox/helper/prepared-helpers.ts': 'it reads files of this package, and only when it runs from its sources',
  'sandbox/host-paths.ts': 'it is the helper',
  'sandbox/misread-start.ts': 'it reads procfs, as bytes',
  'sandbox/remove-tree.ts': 'it uses bytes as paths',
}

/** What may be imported from `node:fs`: types, constants, and functions that take only descriptors. */
const withoutPath = /^(?:[A-Z]\w*|constants|close|closeSync|fstatSync|fchmodSync|readSync|writeSync)$/

/** `createReadStream` takes a path that it ignores if there is a descriptor. */
const ofDescriptor = /\bcreateReadStream\('', \{ fd: /

const outsideGit = sources('sandbox').filter((file) => !file.startsWith('sandbox/git/'))

test('the sandbox calls the host’s file system by path only with paths that keep each byte', () => {
  const found = outsideGit
    .filter((file) => !Object.hasOwn(own, file))
    .flatMap((file) =>
      imports(file)
        .filter(({ specifier }) => /^(?:node:)?fs(?:\/promises)?$/.test(specifier))
        .flatMap(({ names }) => names)
        .filter((name) => !withoutPath.test(name))
        .filter((name) => !(name === 'createReadStream' && ofDescriptor.test(code(file))))
        .map((name) => `${file}: ${name}`),
    )
  expect(found).toEqual([])
  expect(sources('sandbox').filter((file) => /getBuiltinModule\('(?:node:)?fs/.test(code(file)))).toEqual([])
})

/** A call to a function of Node's `fs` that returns names or paths, including the arguments. */
const returning =
  /\bfs\.(?:readdirSync|opendirSync|readlinkSync|realpathSync\.native|mkdtempSync)\((?:[^()\n]|\([^()\n]*\))*\)/g

test('the file helper of the sandbox reads names as bytes', () => {
  const calls = [...code('sandbox/host-paths.ts').matchAll(returning)].map(([call]) => call)
  expect(calls).toHaveLength(9)
  // The function that makes this call looks for replaced bytes, and then reads the names again.
  const asText = 'fs.readdirSync(directory, { withFileTypes: true })'
  expect(calls.filter((call) => !/'(?:latin1|buffer)'/.test(call))).toEqual([asText])
})
