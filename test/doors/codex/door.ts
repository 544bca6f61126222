import { spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { onTestFinished } from 'vitest'
import { responseFrames, startMockOpenAI, type MockOpenAI } from '../../support/mock-openai.ts'
import type { Replies } from '../../support/mock-model.ts'
import { startSseServer, type Answer } from '../../support/sse-server.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** A behaviour of Codex's clients that the door has too, or from which it differs. */
export type Behaviour = {
  readonly name: string
  /** Why the door does something else. Absent: it does the same. */
  readonly differs?: Difference
  /** Passes if the program does what is said of it. `isCodex`: the program is the real Codex, which `CODEX_PROGRAM` names. */
  readonly run: (isCodex: boolean) => Promise<void>
}

/** The only reasons for a difference. */
export type Difference =
  'a message off the schema is sent back' | 'an empty answer is no success' | 'exit codes say why'

/** The path of the real Codex, to see that the behaviours are Codex's; undefined: the door is tested. */
export const realCodex = process.env['CODEX_PROGRAM']

const door = new URL('../../../dist/bin/codex.js', import.meta.url).pathname

/** The first words of the command line that starts the program. */
export const startOfCodex: readonly string[] = realCodex === undefined ? [process.execPath, door] : [realCodex]

/** The environment of a user whose home is `home`. */
export function environment(home: string): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    CODEX_HOME: join(home, '.codex'),
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
  }
}

/** A user's home, with files. Codex wants its folder to be there. */
export function homeWith(files: Readonly<Record<string, string>> = {}): string {
  const plain = '[features]\nresponses_websockets = false\nenable_request_compression = false\n'
  return tempDir({ '.codex/.keep': '', ...(realCodex === undefined ? {} : { '.codex/config.toml': plain }), ...files })
}

/** Starts a mock of OpenAI's API, which is closed at the end of the test. */
export async function mockOf(replies: Replies): Promise<MockOpenAI> {
  const ids = String(process.hrtime.bigint())
  const mock = realCodex === undefined ? await startMockOpenAI({ replies, ids }) : await lenientMock(replies, ids)
  onTestFinished(() => mock.close())
  return mock
}

/** A mock for the real Codex: it doesn't check requests, and refuses what Codex tries before it posts them. */
async function lenientMock(replies: Replies, ids: string): Promise<MockOpenAI> {
  let index = 0
  const server = await startSseServer((request): Answer => {
    if (request.method !== 'POST' || !request.path.endsWith('/responses'))
      return { kind: 'failure', status: 404, body: {} }
    const at = index++
    const reply = typeof replies === 'function' ? replies(request, at) : replies[at]
    if (reply === 'silence') return { kind: 'silence' }
    if (reply === undefined || 'status' in reply) return { kind: 'failure', status: 400, body: {}, ...reply }
    const spoken = 'say' in reply ? reply : { say: 'frames' in reply ? [] : reply }
    return { kind: 'stream', frames: responseFrames(spoken, `${ids}_${at}`) }
  })
  const posts = (): MockOpenAI['requests'] => server.requests.filter(({ body }) => body !== undefined)
  return {
    baseUrl: `${server.url}/v1`,
    close: server.close,
    get requests() {
      return posts()
    },
  }
}

/** A command line of a door, and what surrounds it. */
export type Line = {
  readonly replies: Replies
  readonly cwd?: string
  readonly home?: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

/** How `codex exec` ended, and what the API was asked. */
export type Ended = {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly requests: MockOpenAI['requests']
}

/** Runs `codex exec` with these arguments against a mock of OpenAI's API. */
export async function codexExec(args: readonly string[], line: Line): Promise<Ended> {
  const mock = await mockOf(line.replies)
  const [program = '', ...first] = startOfCodex
  const child = spawn(program, [...first, 'exec', '-c', `openai_base_url="${mock.baseUrl}"`, ...args], {
    cwd: line.cwd ?? tempDir(),
    env: { ...environment(line.home ?? homeWith()), CODEX_API_KEY: 'sk-test', ...line.env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(line.stdin ?? '')
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return { code, stdout, stderr, requests: mock.requests }
}

/** A script that starts the program and writes down with which words it was started. */
export function spied(): { readonly path: string; readonly words: () => readonly string[] } {
  const path = join(tempDir(), 'codex')
  const start = startOfCodex.map((word) => `'${word}'`).join(' ')
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\0' "$@" > "$0.words"\nexec ${start} "$@"\n`)
  chmodSync(path, 0o755)
  return { path, words: () => readFileSync(`${path}.words`, 'utf8').split('\0').slice(0, -1) }
}

/** The path of a picture with one pixel. */
export function picture(): string {
  const path = join(tempDir(), 'pixel.png')
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  writeFileSync(path, Buffer.from(png, 'base64'))
  return path
}

/** A request's body, as far as the tests read it. */
export type Body = {
  readonly model: string
  readonly reasoning?: { readonly effort?: string }
  readonly text?: { readonly format?: unknown }
  readonly input: readonly {
    readonly type?: string
    readonly role?: string
    readonly content?: readonly { readonly type: string; readonly text?: string; readonly image_url?: string }[]
  }[]
}

/** The bodies of requests. */
export function bodies({ requests }: Pick<MockOpenAI, 'requests'>): readonly Body[] {
  return requests.map(({ body }) => body as Body)
}

/** The texts of the messages by a role. */
export function textsBy(role: string, body: Body | undefined): readonly string[] {
  const messages = (body?.input ?? []).filter((item) => item.role === role)
  return messages.flatMap(({ content = [] }) => content.flatMap(({ text }) => (text === undefined ? [] : [text])))
}
