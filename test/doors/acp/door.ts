import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import process from 'node:process'
import { expect, onTestFinished } from 'vitest'
import { call, say, type Reply, type Replies } from '../../support/mock-model.ts'
import type { MockOpenAI } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { environment, mockOf } from '../codex/door.ts'
import { faultOfLine, type Message } from './schema.ts'

/** The words of the command line that starts the program. */
export const startOfAgent: readonly string[] = [
  process.execPath,
  new URL('../../../dist/bin/agent.js', import.meta.url).pathname,
  'acp',
]

/** What surrounds a door. */
export type Line = {
  readonly replies: Replies
  readonly cwd?: string
  readonly home?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A door that runs. */
export type Door = {
  readonly child: ChildProcessWithoutNullStreams
  readonly cwd: string
  readonly home: string
  readonly mock: MockOpenAI
  /** What the door has written so far. */
  readonly stdout: () => string
  readonly ended: Promise<{
    readonly code: number | null
    readonly stderr: string
    readonly messages: readonly Message[]
  }>
}

/** The environment of a user, with a key for a mock of the API. */
export function keyed(mock: MockOpenAI, home: string): Record<string, string> {
  return { ...environment(home), OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: mock.baseUrl }
}

/** Starts the door. Everything that it writes is checked against the protocol's JSON Schema when the test ends. */
export async function startDoor({ replies, cwd = repository(), home = tempDir(), env = {} }: Line): Promise<Door> {
  const mock = await mockOf(replies)
  const [program = '', ...words] = startOfAgent
  const child = spawn(program, words, { cwd: tempDir(), env: { ...keyed(mock, home), ...env } })
  const methods = new Map<unknown, string>()
  const write = child.stdin.write.bind(child.stdin)
  // What a client writes is only read along, to know what the door answers.
  child.stdin.write = ((chunk: Uint8Array | string, ...more: []) => {
    for (const line of Buffer.from(chunk as string)
      .toString('utf8', 0, 100_000)
      .split('\n'))
      note(line, methods)
    return write(chunk, ...more)
  }) as typeof child.stdin.write
  child.stdin.on('error', () => undefined)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('latin1')))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const whole = (): readonly string[] =>
    Buffer.from(stdout.slice(0, stdout.lastIndexOf('\n') + 1), 'latin1')
      .toString()
      .split('\n')
      .slice(0, -1)
  const ended = new Promise<{ code: number | null; stderr: string; messages: readonly Message[] }>(
    (resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) =>
        resolve({ code, stderr, messages: whole().map((line) => JSON.parse(line) as Message) }),
      )
    },
  )
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended.catch(() => undefined)
    expect(whole().flatMap((line) => faultOfLine(line, (id) => methods.get(id)) ?? [])).toEqual([])
  })
  return { child, cwd, home, mock, ended, stdout: () => stdout }
}

function note(line: string, methods: Map<unknown, string>): void {
  try {
    const { id, method } = JSON.parse(line) as Message
    if (id !== undefined && method !== undefined) methods.set(id, method)
  } catch {
    // Half a line, or one that a test broke.
  }
}

/** A client that writes lines by itself. */
export type Raw = Door & {
  readonly write: (message: object | string) => void
  /** Sends a request, and resolves with its answer. */
  readonly ask: (method: string, params: object) => Promise<Message>
  /** Resolves with the first message, among those not yet taken, that meets a condition. */
  readonly next: (meets: (message: Message) => boolean) => Promise<Message>
}

/** Starts the door with a client that writes lines by itself. */
export async function startRaw(line: Line): Promise<Raw> {
  const door = await startDoor(line)
  let [taken, count] = [0, 0]
  let changed = Promise.withResolvers<void>()
  const change = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  door.child.stdout.on('data', change)
  door.child.on('close', change)
  const write = (message: object | string): void => {
    door.child.stdin.write(
      typeof message === 'string' ? message : `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`,
    )
  }
  const find = async (from: number, meets: (message: Message) => boolean): Promise<readonly [number, Message]> => {
    for (;;) {
      const text = Buffer.from(door.stdout(), 'latin1').toString()
      const lines = text
        .slice(0, text.lastIndexOf('\n') + 1)
        .split('\n')
        .slice(0, -1)
      for (let at = from; at < lines.length; at++) {
        const message = JSON.parse(lines[at] ?? '') as Message
        if (meets(message)) return [at, message]
      }
      if (door.child.exitCode !== null) throw new Error(`the door ended with ${door.child.exitCode}`)
      await changed.promise
    }
  }
  return {
    ...door,
    write,
    ask: async (method, params) => {
      const id = `q${++count}`
      write({ id, method, params })
      return (await find(0, (message) => message.id === id && message.method === undefined))[1]
    },
    next: async (meets) => {
      const [at, message] = await find(taken, meets)
      taken = at + 1
      return message
    },
  }
}

/** Begins a session, and returns its id. */
export async function newSession(raw: Raw, more: object = {}): Promise<string> {
  const { result, error } = await raw.ask('session/new', { cwd: raw.cwd, mcpServers: [], ...more })
  if (error !== undefined) throw new Error(error.message)
  return String(result?.['sessionId'])
}

/** The parameters of a prompt. */
export function prompt(sessionId: string, text = 'go'): object {
  return { sessionId, prompt: [{ type: 'text', text }] }
}

/** Whether a message asks for permission. */
export function asksPermission({ method }: Message): boolean {
  return method === 'session/request_permission'
}

/** The replies of a model that runs a command, and then says ok. */
export function command(cmd: string): readonly Reply[] {
  return [[call('exec_command', { cmd })], [say('ok')]]
}
