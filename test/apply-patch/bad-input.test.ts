/** These tests give the program input that is not a patch, or only part of one. Larger inputs are tested in `large-input.test.ts`. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commit, parsePatch, planPatch, renderFailure } from '../../apply-patch/index.ts'
import { fingerprint, makeCase, runProgram, type Run } from './case-tools.ts'

const files = { 'one.txt': 'a\nb\nc\n', 'two.txt': 'x\r\ny\r\n', 'dir/three.txt': 'q' }

/** The time limit of tests that start the program many times. A start takes a twentieth of a second, but many times as long on a busy machine. */
const manyProcesses = { timeout: 300_000 }

/** Runs the program with some input, and checks what must be true both if it applies the input and if it refuses it. */
function feed(cwd: string, input: string | Uint8Array, ...args: readonly string[]): Run {
  const before = fingerprint(cwd)
  const run = runProgram(cwd, input, { args })
  expect(run.stderr).not.toMatch(/unexpected error|^\s+at /im)
  expect([0, 1, 2]).toContain(run.status)
  if (run.status !== 0) {
    expect(run.stderr).not.toBe('')
    expect(fingerprint(cwd)).toEqual(before)
  }
  return run
}

const samples: readonly (readonly [form: string, patch: string])[] = [
  [
    'a plain patch',
    '*** Begin Patch\n*** Update File: one.txt\n@@ a\n-b\n+B\n*** Add File: née.txt\n+ü\n*** Update File: two.txt\n*** Move to: moved.txt\n@@\n-x\n+X\n*** End of File\n*** Delete File: dir/three.txt\n*** End Patch',
  ],
  ['a here-document', "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** End Patch\nEOF\n"],
  ['JSON', JSON.stringify({ input: '*** Begin Patch\n*** Add File: new.txt\n+"one"\n*** End Patch\n' })],
  ['a code fence', '```diff\n*** Begin Patch\n*** Delete File: one.txt\n*** End Patch\n```\n'],
]

describe.each(samples)('%s that is cut off', (_, patch) => {
  // Cutting the input after the End marker would remove only text that is not part of the patch.
  const end = patch.indexOf('*** End Patch') + '*** End Patch'.length

  test.each(['lenient', 'strict'] as const)('at any byte is refused in %s mode', async (mode) => {
    const { cwd } = makeCase({ files })
    const before = fingerprint(cwd)
    const bytes = Buffer.from(patch)
    for (let length = 0; length < Buffer.byteLength(patch.slice(0, end)); length++) {
      const cut = bytes.subarray(0, length)
      const error = await (async () => {
        const { patch: read } = parsePatch(cut, { mode })
        return commit(await planPatch(read, { root: cwd, mode }))
      })().catch((thrown: unknown) => thrown)
      expect(error, cut.toString()).toMatchObject({ name: 'PatchError', code: 'malformed' })
      expect(renderFailure(error)).not.toMatch(/Unexpected error|undefined|\[object/)
    }
    expect(fingerprint(cwd)).toEqual(before)
  })

  test('is refused by the program, which says that nothing was changed', () => {
    const { cwd } = makeCase({ files })
    const bytes = Buffer.from(patch)
    for (let length = 1; length < end; length += 23) {
      const run = feed(cwd, bytes.subarray(0, length))
      expect(run.status, bytes.subarray(0, length).toString()).toBe(1)
      expect(run.stderr).toMatch(/Nothing was changed\.\n$/)
    }
  })
})

test('mutated patches through the program never crash it, and a refused one changes nothing', manyProcesses, () => {
  const edit = fc.tuple(
    fc.nat(1000),
    fc.nat(8),
    fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom('\n', '*** ', '@@', '\0', '../', '\uFEFF', '*** End Patch\n'),
    ),
  )
  fc.assert(
    fc.property(fc.constantFrom(...samples), fc.array(edit, { maxLength: 4 }), ([, seed], edits) => {
      const { cwd } = makeCase({ files })
      let input = seed
      for (const [at, drop, put] of edits) {
        const place = at % (input.length + 1)
        input = input.slice(0, place) + put + input.slice(place + drop)
      }
      feed(cwd, input)
    }),
    { numRuns: 60 },
  )
})

test('random bytes are refused', manyProcesses, () => {
  const { cwd } = makeCase({ files })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4096 }), (bytes) => {
      expect(feed(cwd, bytes).status).toBe(bytes.length === 0 ? 2 : 1)
    }),
    { numRuns: 40 },
  )
})

test.each([
  ['a program', Buffer.from('7f454c46020101000000000000000000', 'hex')],
  ['nothing but NUL', Buffer.alloc(100_000)],
  ['UTF-16', Buffer.from('\uFEFF*** Begin Patch\n*** Delete File: one.txt\n*** End Patch\n', 'utf16le')],
  ['Latin-1 in a line', Buffer.from('*** Begin Patch\n*** Add File: n\n+\xe9\n*** End Patch\n', 'latin1')],
  ['nothing but line endings', Buffer.from('\n'.repeat(1000))],
  ['brackets without end', Buffer.from('['.repeat(100_000))],
])('%s as a patch is refused', (_, bytes) => {
  expect(feed(makeCase({ files }).cwd, bytes).status).toBe(1)
})

/** No option allows any of these paths, because no file can have such a path. */
describe.each([
  ['with NUL', 'a\0b'],
  ['of nothing but NUL', '\0'],
  ['of 5,000 characters', 'd'.repeat(5000)],
  ['of 5,000 characters in 2,500 folders', `${'d/'.repeat(2499)}dd`],
  ['of 5,000 characters beyond ASCII', 'é'.repeat(5000)],
])('a path %s is refused', (_, path) => {
  test.each([
    ['Add', `*** Add File: ${path}\n+a\n`],
    ['Delete', `*** Delete File: ${path}\n`],
    ['Update', `*** Update File: ${path}\n@@\n-a\n+b\n`],
    ['Move', `*** Update File: one.txt\n*** Move to: ${path}\n`],
  ])('in %s', (_kind, body) => {
    const { cwd } = makeCase({ files })
    for (const args of [[], ['--unsafe-paths', '--json']]) {
      const run = feed(cwd, `*** Begin Patch\n*** Delete File: dir/three.txt\n${body}*** End Patch\n`, ...args)
      expect(run.status).toBe(1)
      expect(run.stderr.length).toBeLessThan(12_000)
    }
  })
})

test('a path of 5,000 characters that leads out of the root is refused', () => {
  const { cwd } = makeCase({ files })
  const run = feed(cwd, `*** Begin Patch\n*** Add File: ${'../'.repeat(1666)}dd\n+a\n*** End Patch\n`)
  expect(run.status).toBe(1)
  expect(run.stderr).toContain('it leads out of the root')
  expect(run.stderr).toContain('--unsafe-paths would allow')
})
