import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsePolicy, SandboxPolicy } from '../../sandbox/index.ts'
import { usualPolicy } from '../../sandbox/usual-policy.ts'
import { tries } from '../support/tries.ts'

/** Usually generates a typical value, but sometimes one that may be invalid. */
const mostly = <T>(usual: fc.Arbitrary<T>, ...others: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 40, arbitrary: usual }, fc.constantFrom(undefined, null, 1, 'text', [null], ...others))
const listOf = (entry: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  mostly(fc.array(entry, { maxLength: 3 }), { 0: '/work' })
const path = mostly(
  fc.constantFrom('/work', '/work/a b', '/tmp', '/home/u/.cache'),
  ...['~/x', '**/.env*', '/a/../b', '/a//b', '/a/', '/', '', 'relative', '/a\0b', '/a\nb', '/.'],
)
const variable = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('PATH', 'HOME', 'a b', 'constructor', 'A\n') },
  fc.constantFrom('', 'A=B', 'A\0', '__proto__'),
)
const some = <T extends object>(record: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      fc.record(record, { requiredKeys: [] }),
      fc.oneof({ weight: 20, arbitrary: fc.constant({}) }, fc.constant({ other: 1 })),
    )
    .map(([known, more]) => ({ ...known, ...more }))
const environment = some({
  inherit: mostly(fc.constantFrom('core', 'all', 'none')),
  ...{ pass: listOf(variable), exclude: listOf(variable), includeOnly: listOf(variable) },
  set: mostly(fc.dictionary(variable, mostly(fc.string(), 'a\0'), { maxKeys: 3 }), Object.create(null)),
})
const policy = some({
  mode: mostly(fc.constantFrom('read-only', 'workspace-write', 'danger-full-access')),
  workspace: path,
  ...{
    writableRoots: listOf(path),
    writableFiles: listOf(path),
    readableRoots: listOf(path),
    deniedReads: listOf(path),
  },
  protectedPaths: listOf(mostly(fc.constantFrom('.git', '**/.husky', '/work/x'), '', '../x', 'a..b')),
  views: mostly(fc.constant([]), [{ path: '/work', source: '/tmp/view' }]),
  network: mostly(fc.constantFrom({ mode: 'off' }, { mode: 'full' }), { mode: 'off', allow: [] }, { mode: 'none' }),
  dockerSocket: mostly(fc.constant(undefined), '/run/docker.sock'),
  unixSockets: mostly(fc.boolean()),
  environment: mostly(environment),
  limits: mostly(fc.constant({}), { processes: 20 }, { processes: 1 }, { other: 1 }),
})

test('a policy that is checked without the schema is the one that the schema returns', () => {
  const cases = tries(5000)
  let usual = 0
  fc.assert(
    fc.property(policy, (input) => {
      const checked = usualPolicy(input)
      if (checked === undefined) return
      usual += 1
      expect(checked).toEqual(SandboxPolicy.parse(input))
    }),
    { numRuns: cases },
  )
  expect(usual).toBeGreaterThan(cases / 25)
})

test.each([
  { mode: 'workspace-write', workspace: '/work' },
  {
    mode: 'read-only',
    workspace: '/work',
    dockerSocket: undefined,
    limits: {},
    views: [],
    environment: { set: { A: 'b' } },
  },
])('a usual policy needs no schema: %o', (input) => {
  expect(usualPolicy(input)).toEqual(parsePolicy(input))
})

test.each([
  { workspace: '/work', mode: 'other' },
  { workspace: 'work', mode: 'read-only' },
  { workspace: '/work', mode: 'read-only', deniedReads: null },
  { workspace: '/work', mode: 'read-only', environment: null },
  { workspace: '/work', mode: 'read-only', limits: { processes: 1 } },
  { workspace: '/work', mode: 'read-only', unknown: 1 },
])('an invalid policy is left to the schema, which refuses it: %o', (input) => {
  expect(usualPolicy(input)).toBeUndefined()
  expect(() => parsePolicy(input)).toThrow()
})
