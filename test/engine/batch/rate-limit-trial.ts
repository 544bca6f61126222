import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, type Ended } from '../../support/agent.ts'
import { responseFrames, say } from '../../support/mock-openai.ts'
import type { Carrier } from './many-tasks.ts'

/** Figures about a batch with a rate-limited model, and the guarantees that the batch violated. */
export type RateTrial = { readonly figures: readonly string[]; readonly failures: readonly string[] }

const minuteMs = 60_000
const mostTokens = 60_000
const workers = 32
const processes = 4
const leastUse = 0.9
const bytesPerToken = 4

type Request = { readonly at: number; readonly tokens: number; readonly refused: boolean }

/**
 * Runs a batch of 32 runs at once with a model on loopback that accepts 60,000 tokens in any minute and answers 429 to all other requests. On Redis,
 * the runs are spread over four workers. In the first minute, the batch learns how accurate its estimates are. After that, no request may be refused,
 * and at least nine tenths of the rate must be used.
 *
 * @param minutes the length of the trial after the first minute
 */
export async function runRateTrial(carrier: Carrier, minutes: number): Promise<RateTrial> {
  const base = mkdtempSync(join(tmpdir(), 'portcullis-rate-'))
  const requests: Request[] = []
  const server = createServer((request, response) => void answer(request, response, requests))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const started: ChildProcess[] = []
  const ends: Promise<Ended>[] = []
  try {
    const [home, out, repo] = [join(base, 'home'), join(base, 'out'), join(base, 'repo')]
    mkdirSync(home)
    makeRepository(repo)
    // There are more tasks than the batch can finish in the given number of minutes.
    const tasks = Array.from({ length: 100 * (minutes + 2) }, (_, at) => ({
      id: `task-${at}`,
      prompt: `Part ${at}. ${'word '.repeat((at * 37) % 500)}`,
      repo,
    }))
    writeFileSync(join(base, 'tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
    const program = (words: readonly string[]): void => {
      const env = { OPENAI_API_KEY: 'sk-test-key' }
      ends.push(agent(words, { cwd: base, home, env, onStart: (child) => void started.push(child) }))
    }
    const model = ['-m', 'gpt-5.5', '-c', `openai_base_url="${url}"`]
    const queue = carrier === 'redis' ? ['--queue', await startRedis(base, started)] : ['-w', String(workers)]
    program(['batch', 'run', 'tasks.jsonl', '-o', out, ...model, ...queue])
    if (carrier === 'redis') {
      while (!existsSync(join(out, 'batch.json'))) await sleep(50)
      for (let at = 0; at < processes; at++)
        program(['batch', 'worker', ...queue, '--store', out, '-w', String(workers / processes)])
    }
    while (requests.length === 0) await sleep(50)
    const began = requests[0]?.at ?? 0
    await sleep(began + (minutes + 1) * minuteMs - Date.now())
    return judge(requests, began, minutes, join(out, 'journal.jsonl'))
  } finally {
    for (const child of started) if (child.spawnfile !== redisServer) child.kill('SIGTERM')
    await Promise.all(ends)
    for (const child of started) child.kill('SIGKILL')
    server.close()
    rmSync(base, { recursive: true, force: true })
  }
}

function judge(requests: readonly Request[], began: number, minutes: number, journal: string): RateTrial {
  const later = requests.filter(({ at }) => at >= began + minuteMs)
  const refused = later.filter((request) => request.refused).length
  const first = requests.filter((request) => request.refused).length - refused
  const end = began + (minutes + 1) * minuteMs
  const used = later
    .filter((request) => !request.refused && request.at < end)
    .reduce((sum, { tokens }) => sum + tokens, 0)
  const share = used / (minutes * mostTokens)
  const attempts = readFileSync(journal, 'utf8').split('"type":"attempt-ended"').length - 1
  const mean = requests.reduce((sum, { tokens }) => sum + tokens, 0) / requests.length
  return {
    figures: [
      `${requests.length} requests of ${mean.toFixed(0)} tokens in ${minutes + 1} minutes, ${attempts} runs ended`,
      `${(share * 100).toFixed(1)} % of the rate used after the first minute; refused: ${first} in it, ${refused} after it`,
    ],
    failures: [
      ...(refused === 0 ? [] : [`${refused} requests were refused after the first minute`]),
      ...(share >= leastUse ? [] : [`only ${(share * 100).toFixed(1)} % of the rate was used`]),
    ],
  }
}

/**
 * Counts the tokens of a request when it arrives, as providers do, and refuses the request if the requests of the last minute have left too few
 * tokens for it.
 */
async function answer(request: IncomingMessage, response: ServerResponse, requests: Request[]): Promise<void> {
  let bytes = 0
  for await (const piece of request) bytes += (piece as Buffer).length
  const [at, output] = [Date.now(), 100 + (bytes % 300)]
  const input = Math.ceil(bytes / bytesPerToken)
  const within = requests.filter((each) => !each.refused && each.at > at - minuteMs)
  const free = mostTokens - within.reduce((sum, { tokens }) => sum + tokens, 0)
  const refused = input + output > free
  requests.push({ at, tokens: input + output, refused })
  const limits = { 'x-ratelimit-limit-tokens': String(mostTokens) }
  if (refused) {
    const wait = ((within[0]?.at ?? at) + minuteMs - at) / 1000
    response.writeHead(429, { ...limits, 'content-type': 'application/json', 'retry-after': String(Math.ceil(wait)) })
    response.end(JSON.stringify({ error: { message: 'too many tokens', code: 'rate_limit_exceeded' } }))
    return
  }
  response.writeHead(200, { ...limits, 'content-type': 'text/event-stream' })
  response.flushHeaders()
  const frames = responseFrames({ say: [say('done')], usage: { input, output } }, requests.length)
  response.write(frames[0])
  await sleep(1000 + (bytes % 3000))
  response.end(frames.slice(1).join(''))
}

function makeRepository(directory: string): void {
  mkdirSync(directory)
  writeFileSync(join(directory, 'a.txt'), 'one\n')
  const git = (...words: readonly string[]): void =>
    void execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words])
  git('init', '--quiet', '-b', 'main')
  git('add', '--all')
  git('commit', '--quiet', '-m', 'first')
}

const redisServer = '/usr/bin/redis-server'

async function startRedis(folder: string, started: ChildProcess[]): Promise<string> {
  const socket = createServer()
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve))
  const { port } = socket.address() as AddressInfo
  await new Promise((resolve) => socket.close(resolve))
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', '']
  started.push(spawn(redisServer, words, { stdio: 'ignore' }))
  return `redis://127.0.0.1:${port}`
}
