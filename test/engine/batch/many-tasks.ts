import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, type Ended } from '../../support/agent.ts'
import { whyNoChromium } from '../../support/chromium.ts'
import { say, startMockOpenAI } from '../../support/mock-openai.ts'
import { timePage } from '../../support/time-page.ts'

/** How a batch's runs reach the processes that execute them: directly from the supervisor, or through Redis. */
export const carriers = ['here', 'redis'] as const
export type Carrier = (typeof carriers)[number]

/** What a batch of many tasks used, and what went wrong. */
type Many = { readonly tasks: number; readonly figures: readonly string[]; readonly failures: readonly string[] }

const mostMiB = 200
const mostDispatchMs = 20
const mostPageMs = 2000
const repositories = 10
const atOnce = 2

/**
 * Runs one batch of `tasks` tasks with a model on loopback and with real git repositories, and measures what the batch itself uses: the memory of
 * its supervisor, and the processor time in addition to that of the runs. Each task must be settled once, and starting the batch again must find
 * nothing left to do. Then the page that `agent batch report` creates is opened in a browser, if there is one.
 *
 * @param keep the directory in which the batch's folder is kept. Undefined: the folder is removed
 */
export async function runManyTasks(carrier: Carrier, tasks: number, keep?: string): Promise<Many> {
  const base = mkdtempSync(join(tmpdir(), 'portcullis-many-'))
  const folder = keep ?? base
  const home = join(base, 'home')
  mkdirSync(home)
  const out = join(folder, `out-${carrier}`)
  const model = await startMockOpenAI({ replies: () => [say('done')] })
  const started: ChildProcess[] = []
  try {
    const sources = Array.from({ length: repositories }, (_, at) => makeRepository(join(base, `service-${at}`)))
    const lines = Array.from({ length: tasks }, (_, at) => ({
      id: `task-${at}`,
      prompt: `Look at part ${at}.`,
      repo: sources[at % repositories],
    }))
    writeFileSync(join(base, 'tasks.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const url = carrier === 'redis' ? await startRedis(base, started) : undefined
    const queue = url === undefined ? ['-w', String(atOnce)] : ['--queue', url]
    const words = [
      'batch',
      'run',
      'tasks.jsonl',
      '-o',
      out,
      '-m',
      'gpt-5.5',
      '-c',
      `openai_base_url="${model.baseUrl}"`,
    ]
    const program = (more: readonly string[], isMeasured: boolean): Promise<Ended> =>
      agent(more, {
        ...{ cwd: base, home, env: { OPENAI_API_KEY: 'sk-test-key' } },
        onStart: (child) => void (isMeasured && started.push(child)),
      })
    const began = Date.now()
    const running = program([...words, ...queue], true)
    const all = [running]
    if (url !== undefined) {
      while (!existsSync(join(out, 'batch.json'))) await sleep(50)
      for (let worker = 0; worker < atOnce; worker++)
        all.push(program(['batch', 'worker', '--queue', url, '--store', out, '-w', '1'], true))
    }
    const own = started.slice(url === undefined ? 0 : 1)
    const used = watch(own.map(({ pid = 0 }) => pid))
    const ended = await running
    const wallMs = Date.now() - began
    const usage = used.end()
    for (const worker of own.slice(1)) worker.kill('SIGTERM')
    await Promise.all(all)
    const again = await program([...words, ...queue], false)
    await program(['batch', 'report', out], false)
    const pageMs = whyNoChromium() === undefined ? await timePage(join(out, 'report.html')) : undefined
    return judge(out, tasks, { ended, again, wallMs, usage, pageMs })
  } finally {
    for (const child of started.toReversed()) if (child.exitCode === null) child.kill('SIGKILL')
    await model.close()
    rmSync(base, { recursive: true, force: true })
  }
}

type Seen = {
  readonly ended: Ended
  readonly again: Ended
  readonly wallMs: number
  readonly usage: Usage
  readonly pageMs: number | undefined
}

function judge(out: string, tasks: number, { ended, again, wallMs, usage, pageMs }: Seen): Many {
  const journal = valuesOf(join(out, 'journal.jsonl'))
  const settled = journal.flatMap(({ type, trial }) => (type === 'settled' ? [trial] : []))
  const results = valuesOf(join(out, 'results.jsonl'))
  const last = journal.findLastIndex(({ type }) => type === 'batch-started')
  const [supervisor, ...workers] = usage.processes
  const processorMs = usage.processes.reduce((sum, each) => sum + each.processorMs, 0) / tasks
  const runsMs = results.reduce((sum, { duration_ms: duration }) => sum + Number(duration), 0)
  const failures = [
    ...(ended.code === 0 ? [] : [`exit code ${ended.code}: ${ended.stderr.slice(-500)}`]),
    ...(results.length === tasks && results.every(({ outcome }) => outcome === 'done') ? [] : ['not all are done']),
    ...(settled.length === tasks && new Set(settled).size === tasks ? [] : [`${settled.length} were settled`]),
    ...(again.code === 0 && journal.length - last === 2 ? [] : ['another start did something']),
    ...((supervisor?.mostMiB ?? Infinity) <= mostMiB ? [] : [`the supervisor took more than ${mostMiB} MiB`]),
    ...(processorMs <= mostDispatchMs ? [] : [`a task took more than ${mostDispatchMs} ms beside its run`]),
    ...((pageMs ?? 0) <= mostPageMs ? [] : [`a browser took more than ${mostPageMs} ms to open the report`]),
  ]
  const figures = [
    `${(wallMs / 1000).toFixed(0)} s in all, ${(wallMs / tasks).toFixed(0)} ms a task with ${atOnce} at once`,
    `processor time beside the runs: ${processorMs.toFixed(1)} ms a task (${usage.processes.map((each) => (each.processorMs / tasks).toFixed(1)).join(' + ')})`,
    `between two runs of a place: ${((wallMs * atOnce - runsMs) / tasks).toFixed(1)} ms a task`,
    `supervisor: ${supervisor?.mostMiB.toFixed(0)} MiB at most; at each tenth ${supervisor?.tenths.map((mib) => mib.toFixed(0)).join(' ')}`,
    ...(workers.length === 0
      ? []
      : [`workers: ${workers.map(({ mostMiB: most }) => most.toFixed(0)).join(', ')} MiB at most`]),
    pageMs === undefined
      ? `report: not opened, ${whyNoChromium()}`
      : `report: opened and drawn by a browser in ${(pageMs / 1000).toFixed(1)} s`,
  ]
  return { tasks, figures, failures }
}

type Usage = {
  readonly processes: readonly {
    readonly processorMs: number
    readonly mostMiB: number
    readonly tenths: readonly number[]
  }[]
}

/** Samples the memory and processor time of processes, without their children, until `end` is called. */
function watch(pids: readonly number[]): { readonly end: () => Usage } {
  const seen = pids.map(() => ({ processorMs: 0, mostMiB: 0, all: [] as number[] }))
  const look = (): void => {
    for (const [at, pid] of pids.entries()) {
      const [entry, status] = [seen[at], readIfAlive(`/proc/${pid}/status`)]
      const ticks = readIfAlive(`/proc/${pid}/stat`).split(') ')[1]?.split(' ')
      if (entry === undefined || ticks === undefined || !status.includes('VmHWM')) continue
      entry.processorMs = (Number(ticks[11]) + Number(ticks[12])) * 10
      entry.mostMiB = kibibytes(status, 'VmHWM') / 1024
      entry.all.push(kibibytes(status, 'VmRSS') / 1024)
    }
  }
  const timer = setInterval(look, 500)
  return {
    end: () => {
      clearInterval(timer)
      return {
        processes: seen.map(({ all, ...rest }) => ({
          ...rest,
          tenths: Array.from({ length: 10 }, (_, tenth) => all[Math.floor(((tenth + 1) * (all.length - 1)) / 10)] ?? 0),
        })),
      }
    },
  }
}

const kibibytes = (status: string, name: string): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0)

function readIfAlive(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function valuesOf(path: string): readonly Record<string, unknown>[] {
  return readIfAlive(path)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

function makeRepository(directory: string): string {
  mkdirSync(directory)
  for (let at = 0; at < 20; at++) writeFileSync(join(directory, `file-${at}.txt`), `${at}\n`.repeat(20))
  const git = (...words: readonly string[]): void =>
    void execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words])
  git('init', '--quiet', '-b', 'main')
  git('add', '--all')
  git('commit', '--quiet', '-m', 'first')
  return directory
}

async function startRedis(folder: string, started: ChildProcess[]): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', '']
  started.push(spawn('/usr/bin/redis-server', words, { stdio: 'ignore' }))
  return `redis://127.0.0.1:${port}`
}
