import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { agent, eventsOf } from '../../support/agent.ts'
import { call, say, type Reply } from '../../support/mock-model.ts'
import type { Received } from '../../support/sse-server.ts'
import { wires, type WireUnderTest } from '../models/wires.ts'

/** What one run met, and what went wrong in it. */
type Chaos = { readonly met: Readonly<Record<string, number>>; readonly failures: readonly string[] }

const turns = 5
const refusals = [429, 500, 502, 503, 529] as const

/** A whole answer as the mock gave it, and how it is to be disturbed. */
type Disturbed = { readonly whole: Buffer; readonly to: ServerResponse; readonly random: () => number }

const streamed = { 'content-type': 'text/event-stream' }
const soon = { 'retry-after-ms': '1', 'content-type': 'application/json' }

/** Sends the beginning of an answer, and then ends the connection in order (FIN) or with a reset (RST). */
async function cut({ whole, to }: Disturbed, length: number, reset = false): Promise<void> {
  to.writeHead(200, streamed)
  to.write(whole.subarray(0, length))
  await sleep(20)
  if (reset) to.socket?.resetAndDestroy()
  else to.destroy()
}

async function inPieces({ whole, to }: Disturbed, size: number, waitMs: number): Promise<void> {
  to.writeHead(200, streamed)
  for (let at = 0; at < whole.length; at += size) {
    to.write(whole.subarray(at, at + size))
    if (waitMs > 0) await sleep(waitMs)
  }
  to.end()
}

const lastEvent = (whole: Buffer): number => whole.lastIndexOf('\n\n', whole.length - 3) + 2
const somewhere = ({ whole, random }: Disturbed): number => Math.floor(random() * whole.length)

/** What can happen to an answer. */
const faults: Readonly<Record<string, (answer: Disturbed) => unknown>> = {
  ...Object.fromEntries(
    refusals.map((status) => [
      status,
      ({ to }: Disturbed) => to.writeHead(status, soon).end('{"error":{"message":"later"}}'),
    ]),
  ),
  'retry-after': ({ to }) => to.writeHead(429, { 'retry-after': '1' }).end('{"error":{"message":"later"}}'),
  dropped: ({ to }) => to.destroy(),
  'reset before the answer': ({ to }) => to.socket?.resetAndDestroy(),
  'cut somewhere': (answer) => cut(answer, somewhere(answer)),
  'cut before the last event': (answer) => cut(answer, lastEvent(answer.whole)),
  'reset somewhere': (answer) => cut(answer, somewhere(answer), true),
  'reset after the headers': (answer) => cut(answer, 0, true),
  'reset before the last event': (answer) => cut(answer, lastEvent(answer.whole), true),
  'web page': ({ to }) => to.writeHead(200, { 'content-type': 'text/html' }).end('<html><p>One moment.</p></html>'),
  'error event': ({ to }) =>
    to
      .writeHead(200, streamed)
      .end(
        'event: error\ndata: {"type":"error","code":"overloaded_error","message":"busy","error":{"type":"overloaded_error","message":"busy"}}\n\n',
      ),
  'empty body': ({ to }) => to.writeHead(200, streamed).end(),
  slow: (answer) => inPieces(answer, 200, 15),
  'small pieces': (answer) => inPieces(answer, 7, 0),
  gzip: ({ whole, to }) => to.writeHead(200, { ...streamed, 'content-encoding': 'gzip' }).end(gzipSync(whole)),
  'last event twice': ({ whole, to }) =>
    to.writeHead(200, streamed).end(Buffer.concat([whole, whole.subarray(lastEvent(whole))])),
}

/**
 * Runs a task of five commands with one provider, whose answers are disturbed at random. The run must succeed, each command must run exactly once and in
 * order, and the events must say so: one item for each command, and one terminal event.
 *
 * @param share the share of answers that is disturbed
 */
export async function runChaos(wire: WireUnderTest, seed: number, share: number): Promise<Chaos> {
  const random = randomFrom(seed)
  const met: Record<string, number> = {}
  const mock = await wire.mock({ replies: nextStep })
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const ofConnection = ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding']
      const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
        ofConnection.includes(name) ? [] : [[name, String(value)]],
      )
      const answer = await fetch(`${new URL(mock.baseUrl).origin}${request.url}`, {
        method: 'POST',
        headers,
        body: Buffer.concat(chunks),
      })
      const whole = Buffer.from(await answer.arrayBuffer())
      const names = Object.keys(faults)
      const name = random() < share ? names[Math.floor(random() * names.length)] : undefined
      if (name === undefined || !answer.ok) return response.writeHead(answer.status, streamed).end(whole)
      met[name] = (met[name] ?? 0) + 1
      return faults[name]?.({ whole, to: response, random })
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const base = mkdtempSync(join(tmpdir(), 'portcullis-chaos-'))
  const [cwd, home] = [join(base, 'work'), join(base, 'home')]
  for (const folder of [cwd, home]) mkdirSync(folder)
  try {
    const { args, env } = wire.agent(`http://127.0.0.1:${port}${new URL(mock.baseUrl).pathname.replace(/\/$/, '')}`)
    const limits = ['-c', 'request_max_retries=20']
    const words = [
      'exec',
      '--json',
      '-s',
      'danger-full-access',
      '--skip-git-repo-check',
      '-m',
      wire.model,
      ...args,
      ...limits,
      'count',
    ]
    const ended = await agent(words, { cwd, home, env })
    return { met, failures: faultsOf(ended, join(cwd, 'seq.txt')).map((fault) => `seed ${seed}: ${fault}`) }
  } finally {
    server.closeAllConnections()
    server.close()
    await mock.close()
    rmSync(base, { recursive: true, force: true })
  }
}

/** The model's next answer: it follows from the results in the request, so that a repeated request gets the same one. */
function nextStep({ body }: Received): Reply {
  const text = JSON.stringify(body)
  const done = Array.from({ length: turns }, (_, at) => at).filter((at) => text.includes(`made ${1000 + at}`)).length
  const cmd = `echo ${done} >> seq.txt; echo made $((1000 + ${done}))`
  return done < turns
    ? [say(`Step ${done} comes now, größer 🚪.`), call('exec_command', { cmd }, `c${done}`)]
    : [say('all done')]
}

function faultsOf({ code, stdout, stderr }: Awaited<ReturnType<typeof agent>>, sequence: string): readonly string[] {
  const events = eventsOf(stdout)
  const commands = events.filter((event) => event.type === 'item.completed' && event.item.type === 'command_execution')
  const terminal = events.filter(({ type }) => type === 'turn.completed' || type === 'turn.failed')
  let written = ''
  try {
    written = readFileSync(sequence, 'utf8')
  } catch {
    // No command ran, which the comparison reports.
  }
  const expected = Array.from({ length: turns }, (_, at) => `${at}\n`).join('')
  return [
    ...(code === 0 ? [] : [`exit code ${code}: ${stderr.trim().split('\n').slice(0, 3).join(' | ')}`]),
    ...(written === expected ? [] : [`commands ran as ${JSON.stringify(written)}`]),
    ...(commands.length === turns ? [] : [`${commands.length} items for ${turns} commands`]),
    ...(terminal.length === 1 ? [] : [`${terminal.length} terminal events`]),
  ]
}

/** Runs with each provider in turn, a quarter or half of whose answers are disturbed. */
export async function runManyChaos(runs: number, seed: number): Promise<Chaos> {
  const met: Record<string, number> = {}
  const failures: string[] = []
  for (let run = 0; run < runs; run++) {
    const wire = wires[run % wires.length]
    if (wire === undefined) continue
    const chaos = await runChaos(wire, seed + run, run % 2 === 0 ? 0.25 : 0.5)
    for (const [name, count] of Object.entries(chaos.met)) met[name] = (met[name] ?? 0) + count
    failures.push(...chaos.failures.map((failure) => `${wire.wire}, ${failure}`))
  }
  return { met, failures }
}

/** A generator of numbers from 0 to 1 that depends only on its seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
