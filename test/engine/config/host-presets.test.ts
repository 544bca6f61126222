import { expect, test } from 'vitest'
import { policyFromOptions } from '../../../engine/cli/policy-from-options.ts'
import { hostPresets, openPresets } from '../../../engine/config/host-presets.ts'
import { parsePolicy } from '../../../sandbox/index.ts'
import { agent } from '../../support/agent.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const userFile = '.config/portcullis/config.toml'

test('a preset expands to its hosts, once each, and any other name stays as it is', () => {
  const internal = { host: 'npm', allow_private: true }
  expect(openPresets(['pypi', 'example.com:8080', 'intranet', internal, 'pypi.org', 'npm:443'])).toEqual([
    'pypi.org',
    'files.pythonhosted.org',
    'example.com:8080',
    'intranet',
    internal,
    'npm:443',
  ])
})

test.each(Object.entries(hostPresets))('all hosts of %s can be allowed', (_, allow) => {
  const network = { mode: 'allowlist' as const, allow: [...allow] }
  expect(parsePolicy({ mode: 'read-only', workspace: '/w', network }).network).toEqual(network)
})

test('agent config show prints the hosts of a preset', async () => {
  const home = tempDir({ [userFile]: '[sandbox_workspace_write]\nallowed_hosts = ["crates", "example.com"]\n' })
  const { stdout } = await agent(['config', 'show'], { cwd: repository(), home })
  expect(stdout).toMatch(
    /allowed_hosts += \["crates.io","index.crates.io","static.crates.io","example.com"\] {2}# .*config.toml:2\n/,
  )
})

test('a preset fixed by the machine’s owner limits hosts to those of the preset', async () => {
  const home = tempDir({ [userFile]: '[sandbox_workspace_write]\nallowed_hosts = ["npm"]\n' })
  const cwd = repository({ '.portcullis/config.toml': '[sandbox_workspace_write]\nallowed_hosts = ["pypi"]\n' })
  const { stdout } = await agent(['config', 'show', '--trust'], { cwd, home })
  expect(stdout).toContain('["registry.npmjs.org"]')
  expect(stdout).toContain('sandbox_workspace_write.allowed_hosts (it exceeds a bound')
})

test('agent sandbox accepts a preset instead of hosts', () => {
  const none = {
    config: [],
    writable: [],
    readable: [],
    allowRead: [],
    denyRead: [],
    allowPrivateHost: [],
    service: [],
    credential: [],
    env: [],
    limit: [],
  }
  const { network } = policyFromOptions({ ...none, allowHost: ['go', 'example.com'] }, {}, '/w')
  expect(network).toEqual({ mode: 'allowlist', allow: ['proxy.golang.org', 'sum.golang.org', 'example.com'] })
})
