import { spawnSync } from 'node:child_process'
import { chmod, chown, readdir } from 'node:fs/promises'
import { beforeAll, expect } from 'vitest'
import { openSandbox, parsePolicy, SandboxError, type Sandbox, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { say } from '../support/mock-openai.ts'
import { testUnless } from '../support/needs.ts'
import { exec, repository } from '../support/workspace.ts'
import { ensureImage, image, imageRoots } from './docker-image.ts'
import { closeLater, temporaryDirectory, testInDocker } from './helpers.ts'

const asRoot = process.geteuid?.() === 0
// Only root can give a directory to another owner, as these tests do.
const test = testUnless(asRoot ? undefined : 'giving a directory away needs root', testInDocker)

beforeAll(() => {
  if (spawnSync('docker', ['version']).status === 0) ensureImage()
})

async function open(policy: Pick<SandboxPolicyInput, 'mode' | 'workspace'>): Promise<Sandbox> {
  const parsed = parsePolicy({ ...policy, readableRoots: [...imageRoots] })
  return closeLater(await openSandbox(parsed, { backend: 'docker', image }))
}

async function refusal(policy: Pick<SandboxPolicyInput, 'mode' | 'workspace'>): Promise<string> {
  const error = await open(policy).catch((error: unknown) => error)
  if (!SandboxError.is(error, 'unavailable')) throw error
  return error.message
}

/** The ids of this process's containers. Other test files may have left some, because they share the process. */
function containers(): readonly string[] {
  const asked = [
    'ps',
    '-a',
    '--filter',
    'label=dev.portcullis.owner',
    '--format',
    '{{.ID}} {{.Label "dev.portcullis.owner"}}',
  ]
  const { stdout } = spawnSync('docker', asked, { encoding: 'utf8' })
  const own = stdout.split('\n').filter((line) => line.includes(`-${process.pid}-`))
  return own.map((line) => line.split(' ')[0] ?? '')
}

test('a workspace that commands could not write to is refused before any command, with its owner', async () => {
  const [workspace, before] = [await temporaryDirectory(), containers()]
  await chmod(workspace, 0o755)
  await chown(workspace, 1234, 1234)
  expect(await refusal({ mode: 'workspace-write', workspace })).toMatch(
    new RegExp(
      `user 0:0 and can't write ${workspace}. It belongs to user 1234: run this program as that user, or make your user its owner`,
    ),
  )
  expect(containers().filter((each) => !before.includes(each))).toEqual([])
  await open({ mode: 'read-only', workspace })
  await chmod(workspace, 0o700)
  expect(await refusal({ mode: 'read-only', workspace })).toContain(`can't read ${workspace}`)
})

test('the trial leaves nothing in the workspace, and the first command uses its container', async () => {
  const [workspace, before] = [await temporaryDirectory(), containers()]
  await open({ mode: 'workspace-write', workspace })
  expect(await readdir(workspace)).toEqual([])
  expect(containers().filter((each) => !before.includes(each))).toHaveLength(1)
})

testInDocker('an image in which nothing can be run is refused before any command', async () => {
  const empty = 'portcullis-test-empty:latest'
  const made = spawnSync('sh', ['-c', `tar -c -T /dev/null | docker import - ${empty}`], { encoding: 'utf8' })
  expect(made.status, made.stderr).toBe(0)
  const policy = parsePolicy({ mode: 'read-only', workspace: await temporaryDirectory() })
  await expect(openSandbox(policy, { backend: 'docker', image: empty })).rejects.toThrow(/must have \/bin\/sh/)
})

test('agent exec asks no model if its commands could not write', async () => {
  const cwd = repository()
  await chmod(cwd, 0o755)
  await chown(cwd, 1234, 1234)
  const keys = ['sandbox_backend=docker', `sandbox_image=${image}`, `sandbox_read.allow=${JSON.stringify(imageRoots)}`]
  const ended = await exec([[say('done')]], [...keys.flatMap((key) => ['-c', key]), '--in-place', 'go'], { cwd })
  expect(ended).toMatchObject({ code: 5, stdout: '', requests: [] })
  expect(ended.stderr).toContain(`can't write ${cwd}. It belongs to user 1234`)
})
