import { homedir, userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { parsePolicy, SandboxError, SandboxPolicy } from '../../sandbox/index.ts'

const least = { mode: 'read-only', workspace: '/w' } as const

test('mode and workspace are enough, and the rest has safe defaults', () => {
  const policy = parsePolicy(least)
  expect(policy.network).toEqual({ mode: 'off' })
  expect(policy.writableRoots).toEqual([])
  expect(policy.environment.inherit).toBe('core')
  expect(policy.deniedReads).toContain(`${homedir()}/.ssh`)
  expect(policy.protectedPaths).toContain('**/.claude')
})

test('a parsed policy parses to itself', () => {
  const policy = parsePolicy({ ...least, writableRoots: ['/b', '/a/../c'], limits: { wallTimeMs: 5 } })
  expect(SandboxPolicy.parse(policy)).toEqual(policy)
})

test('~ means both the home in the environment and the one in the password database', () => {
  const before = process.env['HOME']
  process.env['HOME'] = '/somewhere/else'
  try {
    expect(parsePolicy({ ...least, deniedReads: ['~/.ssh'] }).deniedReads).toEqual([
      '/somewhere/else/.ssh',
      `${userInfo().homedir}/.ssh`,
    ])
  } finally {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
  }
})

test.each([
  ['a missing workspace', { mode: 'read-only' }, 'workspace'],
  ['a relative workspace', { mode: 'read-only', workspace: 'w' }, 'workspace'],
  ['an unknown mode', { mode: 'yolo', workspace: '/w' }, 'mode'],
  ['an unknown key', { ...least, writeableRoots: [] }, ''],
  ['a relative writable root', { ...least, writableRoots: ['src'] }, 'writableRoots.0'],
  ['a NUL in a path', { ...least, writableRoots: ['/a\0b'] }, 'writableRoots.0'],
  ['a protected path that climbs out', { ...least, protectedPaths: ['../x'] }, 'protectedPaths.0'],
  ['a limit of nothing', { ...least, limits: { wallTimeMs: 0 } }, 'limits.wallTimeMs'],
  ['a variable with "=" in its name', { ...least, environment: { set: { 'A=B': 'c' } } }, 'environment.set.A=B'],
])('%s is refused with its key', (_, input, key) => {
  try {
    parsePolicy(input)
  } catch (error) {
    if (!SandboxError.is(error, 'invalid-policy')) throw error
    expect(error.data.problems.map((problem) => problem.key)).toEqual([key])
    return
  }
  throw new Error('the policy was accepted')
})

test('each entry of a long list of places is read separately, whatever the others contain', () => {
  const plain = Array.from({ length: 50 }, (_, index) => `/home/.secret-${index}`)
  const odd = ['/a/../b', '/c/', '/d//e', '/f\n/../g', '/h\n..', '/.', '/home/.secret-1']
  const { deniedReads } = parsePolicy({ ...least, deniedReads: [...plain, ...odd] })
  expect(deniedReads).toEqual([...plain, '/b', '/c/', '/d/e', '/g', '/h\n..', '/'])
  for (const wrong of ['relative', '', '/nul\0', '/line\n\0'])
    expect(() => parsePolicy({ ...least, deniedReads: [...plain, wrong] })).toThrow('deniedReads.50')
  for (const wrong of ['', '../out', 'in/../../out', 'nul\0'])
    expect(() => parsePolicy({ ...least, protectedPaths: [...plain, wrong] })).toThrow('protectedPaths.50')
})
