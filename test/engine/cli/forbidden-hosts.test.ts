import { expect, test } from 'vitest'
import { forbiddenHosts, forbidsUrl } from '../../../engine/app/forbidden-hosts.ts'
import { loadPermissions, loadRules } from '../../../policies/index.ts'

const rules = loadRules([
  {
    path: 'own.rules',
    layer: 'user',
    text: 'network_rule(host = "evil.example.com", protocol = "https", decision = "forbidden", justification = "no")\n',
  },
])
const permissions = loadPermissions([
  {
    path: 'settings.json',
    layer: 'user',
    text: '{"permissions": {"deny": ["WebFetch(domain:leaks.example.com)"], "ask": ["WebFetch(domain:odd.example.com)"]}}',
  },
])
const forbids = forbiddenHosts({ rules, permissions })

test('a host that a rule or a permission forbids is forbidden, whoever else allows it', () => {
  expect(forbids('evil.example.com', 443, 'https')).toContain('no')
  expect(forbids('leaks.example.com', 443, 'https')).toContain('WebFetch(domain:leaks.example.com)')
})

test('other hosts are not affected', () => {
  expect(forbids('example.com', 443, 'https')).toBeUndefined()
  expect(forbids('odd.example.com', 443, 'https')).toBeUndefined()
})

test('a URL is judged by its actual host, port and protocol', () => {
  expect(forbidsUrl(forbids, new URL('https://EVIL.example.com/x'))).toContain('no')
  expect(forbidsUrl(forbids, new URL('wss://evil.example.com/x'))).toContain('no')
  expect(forbidsUrl(forbids, new URL('http://example.com/'))).toBeUndefined()
})
