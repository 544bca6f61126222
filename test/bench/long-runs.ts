import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { messageFrames } from '../support/mock-anthropic.ts'
import { completionFrames } from '../support/mock-chat.ts'
import type { Spoken } from '../support/mock-model.ts'
import { call, responseFrames, say } from '../support/mock-openai.ts'
import { measureOnce, type Measured } from './measure.ts'
import type { BenchRow } from './row.ts'

const agent = new URL('../../dist/bin/agent.js', import.meta.url).pathname
const turns = 1000
/** The model's text in each turn, in addition to its tool call. */
const words = 'Going on with the next of the many steps that there are. '.repeat(36)

type Wire = {
  readonly name: string
  readonly frames: (reply: Spoken, index: number) => readonly string[]
  readonly args: (url: string) => readonly string[]
}

const wires: readonly Wire[] = [
  {
    name: 'Responses',
    frames: responseFrames,
    args: (url) => ['-m', 'gpt-5.5', '-c', `openai_base_url=${url}/v1`],
  },
  {
    name: 'Chat',
    frames: completionFrames,
    args: (url) => ['-m', 'local/qwen3', '-c', `model_providers={local={base_url="${url}/v1",wire_api="chat"}}`],
  },
  {
    name: 'Messages',
    frames: messageFrames,
    args: (url) => [
      ...['-m', 'local/claude-opus-5', '-c'],
      `model_providers={local={base_url="${url}",wire_api="messages"}}`,
    ],
  },
]

/** Measures runs of a thousand turns. The cost of a turn must not grow with the number of turns before it, except for the data to send. */
export async function longRunsBench(): Promise<readonly BenchRow[]> {
  const work = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-bench-')))
  const rows: BenchRow[] = []
  try {
    for (const wire of wires) {
      const server = await startServer(wire)
      const measured: Measured = {
        argv: [process.execPath, agent, 'exec', '--json', '-s', 'danger-full-access', ...wire.args(server.url), 'go'],
        directory: async () => {
          const directory = await mkdtemp(join(work, 'repository-'))
          execFileSync('git', ['init', '--quiet', directory])
          return directory
        },
        env: {
          OPENAI_API_KEY: 'none',
          HOME: work,
          XDG_STATE_HOME: join(work, 'state'),
          XDG_CONFIG_HOME: join(work, 'c'),
        },
      }
      const ours = await measureOnce(measured, await measured.directory())
      const { gaps } = server
      server.close()
      const each = (from: number): string => median(gaps.slice(from, from + 100)).toFixed(1)
      rows.push({
        name: `${turns} turns, ${wire.name}`,
        ours,
        note: `ms a turn: at first ${each(1)}, at last ${each(turns - 100)}`,
      })
    }
    return rows
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * A model that only answers: it doesn't look at requests and doesn't keep them. `gaps` are the times from each answer to the end of the next request.
 */
async function startServer(wire: Wire) {
  let answered = 0
  let index = 0
  const gaps: number[] = []
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const turn = index++ % (turns + 1)
      if (turn === 0) gaps.length = 0
      gaps.push(performance.now() - answered)
      const step = call('update_plan', { plan: [{ step: `step ${turn}`, status: 'in_progress' }] }, `call_${turn}`)
      const reply = { say: turn < turns ? [say(words), step] : [say('done')], usage: { input: 1000, output: 500 } }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(wire.frames(reply, turn).join(''), () => (answered = performance.now()))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, gaps, close: () => server.close() }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
