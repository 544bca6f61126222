import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { call, say, startMockOpenAI, type Reply } from '../support/mock-openai.ts'
import { hidingBubblewrap, testUnless, whyNoBubblewrap, whyNoDocker } from '../support/needs.ts'
import { startJob, type Step } from '../support/runner.ts'
import { tempDir } from '../support/temp-dir.ts'

const image = 'portcullis-test-shell:latest'

/**
 * Creates a Docker image of the kind that a workflow could use: three of this machine's programs, the libraries that they need, and the file
 * `/etc/mark`.
 */
function makeImage(): void {
  const programs = ['/bin/bash', '/bin/cat', '/bin/sh']
  const linked = programs.flatMap(
    (program) => execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+(?= \(0x)/g) ?? [],
  )
  const tree = tempDir()
  for (const file of new Set([...programs, ...linked])) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    execFileSync('cp', ['-L', file, join(tree, file)])
  }
  for (const name of ['etc', 'tmp', 'proc', 'dev', 'sys', 'usr/bin', 'var/tmp', 'mnt'])
    mkdirSync(join(tree, name), { recursive: true })
  writeFileSync(join(tree, 'etc/mark'), 'inside the image\n')
  const made = spawnSync('sh', ['-c', `tar -C '${tree}' -c . | docker import - ${image}`], { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(made.stderr)
}

async function run(
  replies: readonly Reply[],
  inputs: Readonly<Record<string, string>>,
): Promise<Step & { seen: string }> {
  const mock = await startMockOpenAI({ replies })
  onTestFinished(() => mock.close())
  const job = startJob({ 'a.txt': 'one\n' })
  const given = { prompt: 'go', model: 'gpt-5.5', 'api-key': 'sk-test-key', ...inputs }
  const step = await job.step('run', given, { OPENAI_BASE_URL: mock.baseUrl }, hidingBubblewrap)
  return { ...step, seen: mock.requests.map(({ body }) => JSON.stringify(body)).join('\n') }
}

const test = testUnless(whyNoDocker() ?? whyNoBubblewrap())

test('if bubblewrap does not work, commands run in the image that the workflow names', async () => {
  makeImage()
  const cmd = 'cat /etc/mark /etc/hostname; echo made > made.txt; echo $GITHUB_TOKEN'
  const step = await run([[call('exec_command', { cmd })], [say('Done.')]], { 'docker-image': image })
  expect(step.code, step.log).toBe(0)
  expect(step.seen).toContain('inside the image')
  expect(step.outputs).toMatchObject({ result: 'done', 'changed-files': '["made.txt"]' })
  expect(step.seen + step.log).not.toContain('canary-')
})

test('if neither works, the model is not asked, and the step says what would help', async () => {
  const step = await run([], { 'docker-image': 'portcullis-test-not-there:latest' })
  expect([step.code, step.seen]).toEqual([5, ''])
  expect(step.outputs).toMatchObject({ result: 'no-sandbox', 'exit-code': '5' })
  expect(step.log).toMatch(/bubblewrap/)
})
