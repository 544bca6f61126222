import { expect, test } from 'vitest'
import { isInRange, proxyOf, proxyUrl } from '../../../engine/models/proxy-variables.ts'

test.each([
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.1.2.3', '10.0.0.0/8', false],
  ['10.1.2.3', 'a.test, 10.1.2.0/23 b.test', true],
  ['10.1.4.3', '10.1.2.0/23', false],
  ['10.1.2.3', '0.0.0.0/0', true],
  ['[fd00::1]', 'fd00::/8', true],
  ['[fe00::1]', 'fd00::/8', false],
  ['[::1]', '::1/128', true],
  ['[::1]', '0.0.0.0/0', false],
  ['models.test', '0.0.0.0/0', false],
  ['10.1.2.3', '10.1.2.3', false],
])('%s is in the range %s: %s', (host, ranges, expected) => {
  expect(isInRange(host, ranges)).toBe(expected)
})

test('the proxy of a request is the most special one, named without its password', () => {
  const env = { ALL_PROXY: 'socks5h://all.test:1080', HTTP_PROXY: 'me:word@plain.test:8080', HTTPS_PROXY: '' }
  expect(proxyOf(env, new URL('https://a.test'))).toMatchObject({
    variable: 'ALL_PROXY',
    label: 'socks5://all.test:1080',
  })
  expect(proxyOf(env, new URL('http://a.test'))).toMatchObject({
    variable: 'HTTP_PROXY',
    label: 'http://plain.test:8080',
  })
  expect(['ftp://a.test', 'http://[', 'socks4://a.test:1'].map(proxyUrl)).toEqual([undefined, undefined, undefined])
})
