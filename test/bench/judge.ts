import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { eventsOf } from '../support/agent.ts'
import { call, say, startMockOpenAI, type Reply } from '../support/mock-openai.ts'
import { thisBuild } from './old-build.ts'
import type { BenchRow } from './row.ts'

const agent = join(thisBuild, 'dist/bin/agent.js')
const [suiteSeconds, installedFiles] = [10, 10_000]

/**
 * Measures what `--verify` adds to a run that changes sources and tests, in a project whose suite takes ten seconds and that has ten thousand installed
 * files. The peer is the median of several runs of the same command. The suite computes instead of waiting, so that everything is slowed down alike by what
 * else the machine does.
 */
export async function judgeBench(): Promise<readonly BenchRow[]> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-bench-')))
  try {
    const project = await makeProject(base)
    const runOnce = (): number => {
      const began = performance.now()
      execFileSync('npm', ['test'], { cwd: project, stdio: 'ignore' })
      return performance.now() - began
    }
    const plains = [await runAgent(project, base, [])]
    const verify = ['--verify', 'npm test']
    // What both are compared with runs before, between and after, because other tasks make the machine slower and faster.
    const peers = [runOnce(), runOnce()]
    const measure = async () => {
      const measured = await runAgent(project, base, verify)
      plains.push(await runAgent(project, base, []))
      peers.push(runOnce(), runOnce())
      return measured
    }
    const [fresh, known] = [await measure(), await measure()]
    const [peer, plain] = [median(peers), median(plains.map(({ wallMs }) => wallMs))]
    const all = peers.map((ms) => Math.round(ms)).join(', ')
    const rowOf = (name: string, { wallMs, said }: typeof fresh): BenchRow => ({
      ...{ name, ours: { wallMs: wallMs - plain }, peer: { wallMs: peer } },
      note: `peer: the command, median of ${all} ms; ${said}`,
    })
    return [rowOf('--verify, a new base', fresh), rowOf('--verify, a known base', known)]
  } finally {
    await rm(base, { recursive: true, force: true })
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

const parts = 5

/** How often a text is hashed in one of the suite's parts. */
function timesOfPart(): number {
  const [began, tried] = [performance.now(), 200]
  for (let at = 0; at < tried; at++) hashOnce()
  return Math.round((tried * suiteSeconds * 1000) / parts / (performance.now() - began))
}

const text = 'x'.repeat(1_000_000)
const hashOnce = (): string => createHash('sha256').update(text).digest('hex')

/** A project whose tests compute, one file after the other. */
async function makeProject(base: string): Promise<string> {
  const project = join(base, 'project')
  await mkdir(join(project, 'test'), { recursive: true })
  await writeFile(join(project, 'package.json'), '{"scripts":{"test":"node --test --test-concurrency=1"}}')
  await writeFile(join(project, '.gitignore'), 'node_modules\n')
  await writeFile(join(project, 'add.js'), 'exports.add = (a, b) => a + b\n')
  const times = timesOfPart()
  for (let at = 0; at < parts; at++) {
    const lines = [
      "const { test } = require('node:test')",
      "const { add } = require('../add.js')",
      `test('computes ${at}', () => {`,
      `  const text = 'x'.repeat(1_000_000)`,
      `  for (let at = 0; at < ${times}; at++) require('node:crypto').createHash('sha256').update(text).digest('hex')`,
      `  require('node:assert').equal(add(1, ${at}), ${at + 1})`,
      '})',
    ]
    await writeFile(join(project, 'test', `${at}.test.js`), `${lines.join('\n')}\n`)
  }
  for (let at = 0; at < installedFiles; at += 50) {
    const folder = join(project, 'node_modules', `package-${at}`)
    await mkdir(folder, { recursive: true })
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        writeFile(join(folder, `${index}.js`), `exports.at = ${index}\n`.repeat(200)),
      ),
    )
  }
  const git = ['-c', 'user.name=x', '-c', 'user.email=x@x']
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'x'],
  ]) {
    execFileSync('git', [...git, ...words], { cwd: project })
  }
  return project
}

const change: Reply = [call('exec_command', { cmd: `echo '// more' >> add.js; echo '// more' >> test/0.test.js` })]

/** One run that lands nothing, so that the next one has the same base. */
async function runAgent(cwd: string, base: string, args: readonly string[]) {
  const mock = await startMockOpenAI({ replies: (_, index) => (index === 0 ? change : [say('done')]) })
  try {
    const began = performance.now()
    const model = ['-m', 'gpt-5.5', '-c', `openai_base_url=${mock.baseUrl}`]
    const child = spawn(process.execPath, [agent, 'exec', '--json', '--land', 'never', ...model, ...args, 'go'], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: base, OPENAI_API_KEY: 'sk-x' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    await new Promise((resolve) => child.on('close', resolve))
    const wallMs = performance.now() - began
    const end = eventsOf(stdout).at(-1)
    const judged = end?.type === 'turn.completed' ? end.verified?.[0] : undefined
    const each = [judged?.judged?.base?.duration_ms, judged?.duration_ms, judged?.judged?.kept?.duration_ms]
    return { wallMs, said: `${judged?.judged?.verdict}: ${each.map((ms) => Math.round(ms ?? 0)).join(', ')} ms` }
  } finally {
    await mock.close()
  }
}
