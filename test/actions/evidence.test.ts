import { createHash, generateKeyPairSync } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { call, freeform, say, startMockOpenAI } from '../support/mock-openai.ts'
import { startGitHub, startJob, type Job, type Step } from '../support/runner.ts'
import { tempDir } from '../support/temp-dir.ts'
import { needsBubblewrap } from '../support/needs.ts'

const keys = (): { readonly own: string; readonly open: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const [own, open] = [
    privateKey.export({ type: 'pkcs8', format: 'pem' }),
    publicKey.export({ type: 'spki', format: 'pem' }),
  ]
  return { own: own.toString(), open: open.toString() }
}

const patch = [
  '*** Begin Patch',
  '*** Update File: src/a.txt',
  '@@',
  '-one',
  '+two',
  '*** Delete File: src/gone.txt',
  '*** End Patch',
].join('\n')
const look = 'env; grep -r "PRIVATE KEY" /proc/self/environ ../../_temp'
const make = 'printf x > src/run.sh && chmod +x src/run.sh'
const cmd = (text: string) => call('exec_command', { cmd: text })

/** Returns a job and its `run` step, which has changed one file, removed another, created a program, and signed the result. */
async function signedRun(
  own: string,
  inputs: Readonly<Record<string, string>> = {},
): Promise<{ job: Job; step: Step }> {
  const mock = await startMockOpenAI({
    replies: [[freeform('apply_patch', patch)], [cmd(look)], [cmd(make)], ...[1, 2, 3, 4].map(() => [say('Done.')])],
  })
  onTestFinished(() => mock.close())
  const job = startJob({ 'src/a.txt': 'one\n', 'src/gone.txt': 'gone\n' })
  const given = { prompt: 'go', model: 'gpt-5.5', 'api-key': 'sk-test-key', 'evidence-key': own }
  const step = await job.step('run', { ...given, ...inputs }, { OPENAI_BASE_URL: mock.baseUrl })
  return { job, step }
}

/** Starts a simulated GitHub server that contains the job's first commit. */
async function gitHubOf({ workspace }: Job) {
  const git = (...args: readonly string[]): Buffer => execFileSync('git', ['-C', workspace, ...args])
  const tree = git('ls-tree', '-r', '-t', 'HEAD')
    .toString()
    .trim()
    .split('\n')
    .map((line) => {
      const [, mode, type, sha, path] = /^(\d+) (\w+) (\w+)\t(.*)$/.exec(line) ?? []
      return { mode, type, sha, path }
    })
  return startGitHub(({ method, path }) => {
    if (path.startsWith('/git/trees/') && method === 'GET') return { truncated: false, tree }
    const read = /^\/git\/blobs\/(\w+)$/.exec(path)
    if (read !== null) return { content: git('cat-file', 'blob', read[1] ?? '').toString('base64') }
    if (method === 'GET') return path === '' ? { default_branch: 'main' } : []
    return { sha: 'made', number: 12, html_url: 'https://github.com/owner/repo/pull/12' }
  })
}

/** Changes one bit of a file, in the byte at the offset that `at` returns, and returns the file's new content. */
function turn(file: string, at: (bytes: Buffer) => number): Buffer {
  const bytes = readFileSync(file)
  const place = at(bytes)
  bytes[place] = (bytes[place] ?? 0) ^ 1
  writeFileSync(file, bytes)
  return bytes
}

test.skipIf(needsBubblewrap())(
  'what a run signed is applied, and nothing else, whoever made the hashes fit',
  async () => {
    const [{ own, open }, other] = [keys(), keys()]
    const { job, step } = await signedRun(own)
    expect(step.code, step.log).toBe(0)
    expect(step.outputs['changed-files']).toBe('["src/a.txt","src/gone.txt","src/run.sh"]')
    expect(step.outputs['evidence']).toBe(join(step.outputs['bundle'] ?? '', 'evidence.json'))

    const apply = async (
      spoil: (bundle: string) => string | undefined = () => undefined,
      inputs: Readonly<Record<string, string>> = {},
    ) => {
      const bundle = tempDir()
      cpSync(step.outputs['bundle'] ?? '', bundle, { recursive: true })
      const hash = spoil(bundle) ?? step.outputs['patch-sha256'] ?? ''
      const github = await gitHubOf(job)
      const given = {
        ...{ 'github-token': 'ghs_write', bundle, 'patch-sha256': hash, 'allowed-paths': 'src/**' },
        ...{ 'evidence-public-key': `${other.open}\n${open}`, ...inputs },
      }
      const applied = await job.step('apply', given, { GITHUB_API_URL: github.url })
      const written = github.asked.filter(({ method }) => method !== 'GET')
      return { code: applied.code, log: applied.log, written: written.map(({ path }) => path) }
    }
    const refused = (why: RegExp) => ({ code: 1, written: [], log: expect.stringMatching(why) as unknown })

    const whole = await apply()
    expect(whole.code, whole.log).toBe(0)
    expect(whole.written).toContain('/pulls')

    // Changes one byte of the patch and updates all of its hashes, like an attacker who can write to the bundle and to the step's outputs.
    const made = (bundle: string): string => {
      const bytes = turn(join(bundle, 'patch.diff'), (text) => text.indexOf('+two') + 1)
      const hash = createHash('sha256').update(bytes).digest('hex')
      const manifest = join(bundle, 'manifest.json')
      writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/(?<="patch_sha256": ")\w+/, hash))
      return hash
    }
    expect(await apply(made)).toMatchObject(refused(/"src\/a.txt" differs from the run's result/))
    expect(await apply(made, { 'evidence-public-key': 'none' })).toMatchObject({ code: 0 })
    expect(
      await apply((bundle) => {
        made(bundle)
        return undefined
      }),
    ).toMatchObject(refused(/its SHA-256 differs/))
    for (const at of [40, 4_000, -60]) {
      const spoil = (bundle: string): undefined => {
        turn(join(bundle, 'evidence.json'), ({ length }) => (length + at) % length)
      }
      expect(await apply(spoil)).toMatchObject(refused(/The evidence is refused/))
    }
    expect(await apply((bundle) => void rmSync(join(bundle, 'evidence.json')))).toMatchObject(
      refused(/has no evidence.json/),
    )
    expect(await apply(undefined, { 'evidence-public-key': other.open })).toMatchObject(
      refused(/not one of the given keys/),
    )
    expect(await apply(undefined, { 'evidence-public-key': 'x' })).toMatchObject(refused(/contains no public key/))
    expect(await apply(undefined, { 'allowed-paths': 'test/**' })).toMatchObject(refused(/not among 'allowed-paths'/))

    // Neither the events nor the log contain the key.
    const [line = ''] = own.split('\n').slice(1)
    const told = readFileSync(join(step.outputs['bundle'] ?? '', 'events.jsonl'), 'utf8')
    expect(told).toContain('command_execution')
    expect([told.includes(line), step.log.replaceAll(/^::add-mask::.*$/gm, '').includes(line)]).toEqual([false, false])
    expect(readdirSync(job.temp).filter((name) => name.endsWith('.key'))).toEqual([])
  },
)

test.skipIf(needsBubblewrap())('a run that failed is not signed, and one with a wrong key is told so', async () => {
  const failed = await signedRun(keys().own, { verify: 'false' })
  expect(failed.step.outputs).toMatchObject({ result: 'failed', evidence: '' })
  const wrong = await signedRun('no key')
  expect(wrong.step).toMatchObject({ code: 1, log: expect.stringMatching(/could not be signed: .*not a private key/s) })
})
