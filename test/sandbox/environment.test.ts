import { spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { commandEnvironment } from '../../sandbox/environment.ts'
import { openSandbox, parsePolicy, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { ensureImage, image, imageRoots } from './docker-image.ts'
import { closeLater, openFor, run, temporaryDirectory, testInBubblewrap, testInDocker } from './helpers.ts'

const secrets = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'GITHUB_TOKEN',
  'GH_TOKEN',
  'NPM_TOKEN',
  'NODE_AUTH_TOKEN',
  'SLACK_WEBHOOK_URL',
  'DATABASE_URL',
  'PGPASSWORD',
  'MYSQL_PWD_PASSWORD',
  'STRIPE_SECRET',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'SENTRY_DSN',
  'JWT_PRIVATE',
  'SESSION_COOKIE',
  'GITLAB_PAT',
  'ACTIONS_ID_TOKEN_REQUEST_URL',
]

function environment(policy: Partial<SandboxPolicyInput['environment'] & object>, inherited: Record<string, string>) {
  const parsed = parsePolicy({ mode: 'read-only', workspace: '/w', environment: policy })
  return commandEnvironment(parsed, inherited, { cwd: '/w' })
}

test.each(secrets)('%s never passes, whatever is inherited', (name) => {
  for (const inherit of ['core', 'all', 'none'] as const) {
    expect(environment({ inherit }, { [name]: 'x' }).variables).not.toHaveProperty(name)
  }
})

describe.each([
  ['bubblewrap', testInBubblewrap],
  ['docker', testInDocker],
] as const)('in %s', (backend, testHere) => {
  testHere('a command finds none of our secrets in any process that it sees', async () => {
    if (backend === 'docker') ensureImage()
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const name of secrets) vi.stubEnv(name, `seeded-${name}`)
    expect(spawnSync('env', { encoding: 'utf8' }).stdout.match(/seeded-/g)).toHaveLength(secrets.length)
    const policy = parsePolicy({
      mode: 'workspace-write',
      workspace: await temporaryDirectory(),
      environment: { inherit: 'all' },
      readableRoots: backend === 'docker' ? [...imageRoots] : [],
    })
    const sandbox = closeLater(await openSandbox(policy, { backend, image }))
    const script = `env; sh -c 'sh -c env'; for each in /proc/[0-9]* /proc/self; do tr '\\0' '\\n' < $each/environ; done; echo end; cat /proc/1/environ`
    const { stdout } = await run(sandbox, script)
    expect(stdout).toMatch(/^PWD=(.|\n)*end\n/m)
    expect(stdout).not.toMatch(/seeded-/)
  })
})

test('unconfined, a command and its children get none either', async () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const name of secrets) vi.stubEnv(name, `seeded-${name}`)
  const environment = { inherit: 'all' } as const
  const sandbox = await openFor({ mode: 'danger-full-access', workspace: await temporaryDirectory(), environment })
  const { stdout } = await run(sandbox, `env; sh -c 'sh -c env'; cat /proc/self/environ; echo end`)
  expect(stdout).toMatch(/PWD=(.|\n)*end\n/)
  expect(stdout).not.toMatch(/seeded-/)
})

test('core passes only an allow-list', () => {
  const { variables } = environment({}, { PATH: '/bin', LC_TIME: 'C', LD_PRELOAD: '/evil.so', FOO: '1' })
  expect(variables).toMatchObject({ PATH: '/bin', LC_TIME: 'C' })
  expect(variables).not.toHaveProperty('LD_PRELOAD')
  expect(variables).not.toHaveProperty('FOO')
})

test('all passes the rest, except addresses with a password', () => {
  const { variables, withheld } = environment(
    { inherit: 'all' },
    { FOO: '1', AUTHOR: 'me', QUEUE: 'amqp://u:p@host', HOMEPAGE: 'https://host/a:b@c' },
  )
  expect(variables).toMatchObject({ FOO: '1', AUTHOR: 'me', HOMEPAGE: 'https://host/a:b@c' })
  expect(withheld).toEqual(['QUEUE'])
})

test('a secret passes if its exact name is listed', () => {
  const { variables } = environment({ pass: ['NPM_TOKEN'] }, { NPM_TOKEN: 't', NPM_TOKEN_2: 'u' })
  expect(variables).toMatchObject({ NPM_TOKEN: 't' })
  expect(variables).not.toHaveProperty('NPM_TOKEN_2')
})

test('patterns exclude and include names in any case, as text and not as regular expressions', () => {
  const inherited = { PATH: '/bin', TZ: 'UTC', 'FO.O': '1', FOXO: '2' }
  expect(environment({ exclude: ['tz'] }, inherited).variables).not.toHaveProperty('TZ')
  const only = environment({ inherit: 'all', includeOnly: ['FO.?', 'P*'] }, inherited).variables
  expect(only).toMatchObject({ PATH: '/bin', 'FO.O': '1' })
  expect(only).not.toHaveProperty('TZ')
  expect(only).not.toHaveProperty('FOXO')
})

test('nothing waits for a person unless the policy requires it', () => {
  expect(environment({}, {}).variables).toMatchObject({
    CI: '1',
    PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    EDITOR: 'true',
  })
  expect(environment({ set: { CI: 'false' } }, {}).variables).toMatchObject({ CI: 'false' })
})
