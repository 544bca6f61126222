import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsePolicy, SandboxError } from '../../../sandbox/index.ts'
import { parseHost } from '../../../sandbox/network/host.ts'
import { matchingPatterns, parsePatterns, type HostPatternInput } from '../../../sandbox/network/host-pattern.ts'

function allows(pattern: HostPatternInput, text: string, port: number): boolean {
  const { host } = parseHost(text)
  return host !== undefined && matchingPatterns(parsePatterns([pattern]), host, port).length > 0
}

test.each([
  ['example.com', 'example.com', 443, true],
  ['example.com', 'EXAMPLE.COM.', 80, true],
  ['Example.Com.', 'example.com', 80, true],
  ['example.com', 'example.com', 8080, false],
  ['example.com', 'www.example.com', 443, false],
  ['example.com', 'example.com.evil.test', 443, false],
  ['example.com', 'notexample.com', 443, false],
  ['*.example.com', 'www.example.com', 443, true],
  ['*.example.com', 'a.b.example.com', 443, true],
  ['*.example.com', 'example.com', 443, false],
  ['*.example.com', 'evilexample.com', 443, false],
  ['*.example.com', 'example.com.evil.test', 443, false],
  ['example.com:22', 'example.com', 22, true],
  ['example.com:22', 'example.com', 443, false],
  ['example.com:*', 'example.com', 5432, true],
  ['*.example.com:8443', 'a.example.com', 8443, true],
  ['bücher.example', 'xn--bcher-kva.example', 443, true],
  ['example.com', 'еxample.com', 443, false],
  ['192.0.2.1', '192.0.2.1', 80, true],
  ['192.0.2.1', '::ffff:192.0.2.1', 80, true],
  ['[2001:db8::1]:8080', '2001:DB8:0::1', 8080, true],
  ['example.com', '192.0.2.1', 80, false],
])('%s: to %s, port %i: %s', (pattern, host, port, allowed) => {
  expect(allows(pattern, host, port)).toBe(allowed)
})

test('a name that no pattern matches is refused, whatever it is', () => {
  fc.assert(
    fc.property(fc.domain(), fc.integer({ min: 1, max: 65_535 }), (name, port) => {
      fc.pre(!name.endsWith('.example.com') && name !== 'other.test')
      expect(allows('*.example.com', name, port) || allows({ host: 'other.test:*' }, name, port)).toBe(false)
    }),
  )
})

test.each([
  ['all hosts', '*'],
  ['all of a top-level domain', '*.com'],
  ['a wildcard in the middle', 'a.*.example.com'],
  ['half a wildcard', '*example.com'],
  ['a scheme', 'https://example.com'],
  ['a path', 'example.com/x'],
  ['a user', 'user@example.com'],
  ['a NUL', 'example.com\0'],
  ['an impossible port', 'example.com:0'],
  ['IPv6 without brackets', '::1'],
  ['an odd IPv4 address', '127.1'],
  ['a wildcard before an address', '*.127.0.0.1'],
  ['a wildcard that may be private', { host: '*.example.com', allowPrivate: true }],
])('a policy with %s is refused, naming the entry', (_, pattern) => {
  try {
    parsePolicy({ mode: 'read-only', workspace: '/w', network: { mode: 'allowlist', allow: ['example.com', pattern] } })
  } catch (error) {
    if (!SandboxError.is(error, 'invalid-policy')) throw error
    expect(error.data.problems.map(({ key }) => key)).toEqual(['network.allow.1'])
    return
  }
  throw new Error('the policy was accepted')
})
