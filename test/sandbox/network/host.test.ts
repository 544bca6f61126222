import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAuthority, parseHost } from '../../../sandbox/network/host.ts'
import { tries } from '../../support/tries.ts'

test.each([
  ['example.com', 'example.com'],
  ['EXAMPLE.Com', 'example.com'],
  ['example.com.', 'example.com'],
  ['localhost', 'localhost'],
  ['_dmarc.a-b.example', '_dmarc.a-b.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['ｅｘａｍｐｌｅ。com', 'example.com'],
  // Cyrillic letters that look like Latin letters are different letters.
  ['еxample.com', 'xn--xample-2of.com'],
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1.', '127.0.0.1'],
  ['[::1]', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8::0:1', '2001:db8::1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::FFFF:7f00:1', '127.0.0.1'],
])('%s is %s', (text, meant) => {
  expect(parseHost(text).host?.text).toBe(meant)
})

test.each([
  ['nothing', ''],
  ['a dot', '.'],
  ['two final dots', 'example.com..'],
  ['an empty label', 'a..b'],
  ['a NUL', 'evil.example\0.example.com'],
  ['a line break', 'example.com\r\nHost: evil'],
  ['a tab', 'example.com\t'],
  ['a space', 'example.com evil'],
  ['a C1 control', 'example.com\u0085'],
  ['a no-break space', 'example.com\u00a0'],
  ['a user name', 'example.com@evil.example'],
  ['a path', 'evil.example/.example.com'],
  ['a backslash', 'evil.example\\.example.com'],
  ['a question mark', 'evil.example?.example.com'],
  ['a fragment', 'evil.example#.example.com'],
  ['an escape', 'example%2ecom'],
  ['a port', 'example.com:80'],
  ['a zone', 'fe80::1%eth0'],
  ['one number', '2130706433'],
  ['a hexadecimal number', '0x7f000001'],
  ['octal numbers', '0177.0.0.1'],
  ['a short address', '127.1'],
  ['a hexadecimal part', '127.0.0.0x1'],
  ['five numbers', '1.2.3.4.5'],
  ['a number too large', '256.1.1.1'],
  ['a bracket too few', '[::1'],
  ['a name in brackets', '[example.com]'],
  ['a label that is too long', `${'a'.repeat(64)}.example`],
  ['a name that is too long', `${'a.'.repeat(127)}example`],
  ['a hyphen at the front', '-a.example'],
  ['a letter that no name has', 'a\ufffd.example'],
])('%s is refused', (_, text) => {
  expect(parseHost(text)).toMatchObject({ host: undefined })
})

test('an accepted host has one spelling, which parses to itself and contains only host characters', () => {
  const piece = fc.constantFrom(
    'a',
    'B',
    '.',
    '-',
    '0',
    '1',
    '127',
    '0x',
    ':',
    '[',
    ']',
    '%',
    '@',
    '\0',
    'ü',
    '。',
    'ｅ',
    '\u00ad',
    ' ',
  )
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.string(),
    fc.ipV4(),
    fc.ipV6(),
    fc.domain(),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const { host } = parseHost(text)
      if (host === undefined) return
      expect(host.text).toMatch(host.kind === 'name' ? /^[a-z\d_][a-z\d_.-]*$/ : /^[\da-f.:]+$/)
      expect(parseHost(host.text)).toEqual({ host })
    }),
    { numRuns: tries(2000) },
  )
})

test('the URL standard reads the same name or address', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.domain(),
        fc.ipV4(),
        fc.ipV6().map((address) => `[${address}]`),
        fc.ipV4Extended(),
      ),
      (text) => {
        const { host } = parseHost(text)
        if (host === undefined || host.text.includes('.') !== text.includes('.')) return
        expect(new URL(`http://${text}`).hostname.replace(/^\[(.*)\]$/, '$1')).toBe(host.text)
      },
    ),
  )
})

test.each([
  ['example.com:443', undefined, 443],
  ['example.com', 80, 80],
  ['[::1]:8080', undefined, 8080],
  ['example.com', undefined, undefined],
  ['example.com:', undefined, undefined],
  ['example.com:0', 80, undefined],
  ['example.com:65536', 80, undefined],
  ['example.com:80:90', 80, undefined],
  ['example.com:+80', 80, undefined],
  ['::1:80', 80, undefined],
  ['user@example.com:80', 80, undefined],
])('of %s, default %s, the port is %s', (text, byDefault, port) => {
  const parsed = parseAuthority(text, byDefault)
  expect(parsed.host === undefined ? undefined : parsed.port).toBe(port)
})
