import { expect, test } from 'vitest'
import { loadConfig } from '../../engine/config/load-config.ts'
import { configuredPolicy } from '../../engine/config/configured-policy.ts'
import type { Settings } from '../../engine/config/settings-schema.ts'
import { remedyAsConfig } from '../../engine/core/remedies.ts'
import { parsePolicy, type Remedy } from '../../sandbox/index.ts'
import { tempDir } from '../support/temp-dir.ts'

/** The settings that result from a user's file and `-c` options. */
function settings(toml: string, overrides: readonly string[] = []): Settings {
  const places = {
    config: tempDir({ 'config.toml': toml }),
    managed: '/nowhere',
    managedClaude: '/nowhere',
    codex: '/nowhere',
    home: '/nowhere',
    state: '/nowhere',
  }
  return loadConfig({ places, project: { root: '/nowhere', workspace: '/nowhere' }, overrides }).settings
}

const followed: readonly (readonly [Remedy, object])[] = [
  [{ kind: 'add-root', to: 'writableRoots', path: '/srv/a b' }, { writableRoots: ['/srv/a b'] }],
  [{ kind: 'add-root', to: 'readableRoots', path: '/tmp/x' }, { readableRoots: ['/tmp/x'] }],
  [{ kind: 'show-denied', place: '/home/u/.ssh', path: '/home/u/.ssh/id' }, { readableRoots: ['/home/u/.ssh/id'] }],
  [{ kind: 'allow-host', host: 'a.example' }, { network: { mode: 'allowlist', allow: ['a.example'] } }],
  [
    { kind: 'allow-host', host: { host: 'db.example:5432', allowPrivate: true } },
    { network: { mode: 'allowlist', allow: [{ host: 'db.example:5432', allowPrivate: true }] } },
  ],
  [{ kind: 'raise-limit', limit: 'memoryBytes', value: 512 * 1024 ** 2 }, { limits: { memoryBytes: 1024 ** 3 } }],
  [{ kind: 'raise-limit', limit: 'fileSizeBytes', value: 1000 }, { limits: { fileSizeBytes: 2000 } }],
  [{ kind: 'raise-limit', limit: 'processes', value: 1024 }, { limits: { processes: 2048 } }],
]

test.each(followed)('%j: following the advice gives a policy that allows it', (remedy, expected) => {
  const words = remedyAsConfig(remedy)
  const override = /-c (?:'(?<quoted>.*)'|(?<bare>\S+))$/.exec(words)?.groups
  const config = settings('', [override?.['quoted'] ?? override?.['bare'] ?? ''])
  const policy = parsePolicy({ mode: 'workspace-write', workspace: '/', ...configuredPolicy(config) })
  expect(policy).toMatchObject(expected)
})

test('an invalid limit is refused with its key', () => {
  const config = settings('[sandbox_limits]\nprocesses = "5M"\n')
  expect(() => configuredPolicy(config)).toThrow(
    `key 'sandbox_limits.processes': must be a whole number (count), not "5M"`,
  )
})
