import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tempDir } from '../support/temp-dir.ts'
import { agent } from '../support/agent.ts'

const root = new URL('../../', import.meta.url)

test('loading a model’s SDK, which is a separate bundle, causes no warning of Node’s', async () => {
  const home = tempDir({
    '.config/portcullis/config.toml':
      '[model_providers.mine]\nbase_url = "http://127.0.0.1:1"\nwire_api = "messages"\nrequest_max_retries = 0\n',
  })
  const args = ['exec', '-s', 'danger-full-access', '--skip-git-repo-check', '-m', 'mine/model', 'x']
  const { code, stderr } = await agent(args, { cwd: tempDir(), home, env: { ANTHROPIC_API_KEY: 'none' } })
  expect(code).toBe(6)
  expect(stderr).not.toMatch(/Warning|trace-warnings/)
})

test.each(['unix:///absent/docker.sock', 'tcp://127.0.0.1:1'])(
  'no docker daemon at %s is told without a warning',
  async (address) => {
    const args = ['sandbox', '--backend', 'docker', '--image', 'any', '--', 'true']
    const options = { cwd: tempDir(), home: tempDir(), env: { DOCKER_HOST: address } }
    const { code, stderr } = await agent(args, options)
    expect(code).toBe(5)
    expect(stderr).toMatch(/^agent: [^\n]*no daemon answers at [^\n]*\n$/)
    expect(stderr).toContain(address)
  },
)

test('the package needs nothing that is built during installation', () => {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly hasInstallScript?: boolean }>>
  }
  const built = Object.entries(lock.packages).filter(
    ([path, { dev, hasInstallScript }]) => path !== '' && dev !== true && hasInstallScript === true,
  )
  expect(built.map(([path]) => path)).toEqual([])
})
