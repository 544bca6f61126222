import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import process from 'node:process'
import { onTestFinished } from 'vitest'
import { startMockAnthropic } from '../../support/mock-anthropic.ts'
import type { MockModel, Replies } from '../../support/mock-model.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { environment as codexEnvironment, type Line } from '../codex/door.ts'

/** The program that stands in for Claude Code. */
export const door = new URL('../../../dist/bin/claude.js', import.meta.url).pathname

/** Starts a mock of Anthropic's API, which is closed at the end of the test. */
export async function mockOf(replies: Replies): Promise<MockModel> {
  const mock = await startMockAnthropic({ replies })
  onTestFinished(() => mock.close())
  return mock
}

/** The environment of a user whose home is `home`, with a key for a mock of the API. */
export function environment(mock: MockModel, home = tempDir()): Record<string, string> {
  return { ...codexEnvironment(home), ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: mock.baseUrl }
}

/** A message of the door. */
export type Message = { readonly type: string; readonly subtype?: string } & Readonly<Record<string, unknown>>

/** How a command line ended. */
export type Ended = {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly messages: readonly Message[]
  readonly requests: MockModel['requests']
}

/** Runs a command line of Claude Code against a mock of the API. */
export async function claude(args: readonly string[], line: Line): Promise<Ended> {
  const started = await startClaude(args, line)
  started.child.stdin.end(line.stdin ?? '')
  return started.ended
}

/** A door that runs, and what it has written so far. */
export type Started = {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Ended>
  readonly cwd: string
  readonly write: (message: object) => void
  /** Resolves with the first message, among those not yet taken, that meets a condition. */
  readonly next: (meets: (message: Message) => boolean) => Promise<Message>
}

/** Starts a command line of Claude Code, whose standard input stays open. */
export async function startClaude(args: readonly string[], line: Line): Promise<Started> {
  const mock = await mockOf(line.replies)
  const cwd = line.cwd ?? repository()
  const child = spawn(process.execPath, [door, ...args], {
    cwd,
    env: { ...environment(mock, line.home), ...line.env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr, taken] = ['', '', 0]
  let changed = Promise.withResolvers<void>()
  const change = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    change()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.on('error', () => undefined)
  const messages = (): readonly Message[] =>
    stdout
      .slice(0, stdout.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((text) => text.startsWith('{'))
      .map((text) => JSON.parse(text) as Message)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ code, stdout, stderr, messages: messages(), requests: mock.requests })
      change()
    })
  })
  return {
    child,
    ended,
    cwd,
    write: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    next: async (meets) => {
      for (;;) {
        const all = messages()
        for (; taken < all.length; taken++) {
          const message = all[taken]
          if (message !== undefined && meets(message)) {
            taken++
            return message
          }
        }
        if (child.exitCode !== null) throw new Error(`the door ended with ${child.exitCode}: ${stderr}`)
        await changed.promise
      }
    },
  }
}

/** The options of a command line whose input and output are messages. */
export const streaming = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']

/** A user's message. */
export function userMessage(content: string): object {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' }
}

/** The last message: how the turn ended. */
export function resultIn(messages: readonly Message[]): Message {
  const last = messages.findLast(({ type }) => type === 'result')
  if (last === undefined) throw new Error(`no result among ${JSON.stringify(messages)}`)
  return last
}
