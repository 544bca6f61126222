import { existsSync } from 'node:fs'
import type { MockModel, Replies } from '../../support/mock-model.ts'
import { repository } from '../../support/workspace.ts'
import { door, environment, mockOf, type Message } from './door.ts'

/** What the tests use of `@anthropic-ai/claude-agent-sdk`. The package may be missing, so its own types can't be imported. */
type Sdk = {
  readonly query: (given: { readonly prompt: unknown; readonly options: object }) => Query
  readonly createSdkMcpServer: (given: object) => object
  readonly tool: (name: string, description: string, shape: object, run: (input: never) => Promise<object>) => object
}

/** A running query. */
export type Query = AsyncGenerator<Message, void> & {
  interrupt(): Promise<unknown>
  setModel(model?: string): Promise<void>
  setPermissionMode(mode: string): Promise<void>
  mcpServerStatus(): Promise<readonly object[]>
  setMcpServers(servers: Readonly<Record<string, object>>): Promise<object>
  getContextUsage(): Promise<{ readonly totalTokens: number; readonly maxTokens: number }>
}

const path = new URL('../node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs', import.meta.url)

/** Why Anthropic's SDK can't be used here; undefined if it can. */
export function whyNoSdk(): string | undefined {
  return existsSync(path)
    ? undefined
    : '@anthropic-ai/claude-agent-sdk is not installed in test/doors (sh .ci/ensure-doors does that)'
}

/** Anthropic's SDK. */
export async function sdk(): Promise<Sdk> {
  return (await import(path.href)) as Sdk
}

/** A query that has been started, and the mock that it asks. */
export type Asked = { readonly query: Query; readonly mock: MockModel; readonly cwd: string }

/** Starts a query of the SDK with these options. */
export async function ask(
  prompt: string | AsyncIterable<object>,
  replies: Replies,
  { cwd = repository(), home, ...options }: { cwd?: string; home?: string } & Readonly<Record<string, unknown>> = {},
): Promise<Asked> {
  const mock = await mockOf(replies)
  const { query } = await sdk()
  const given = { pathToClaudeCodeExecutable: door, cwd, env: environment(mock, home), ...options }
  return { query: query({ prompt, options: given }), mock, cwd }
}

/** All messages of a query. */
export async function drain({ query }: Pick<Asked, 'query'>): Promise<readonly Message[]> {
  const all: Message[] = []
  for await (const message of query) all.push(message)
  return all
}

/** Messages for a query that are sent one by one. */
export function prompts(): AsyncIterable<object> & { readonly push: (text: string) => void; readonly end: () => void } {
  const waiting: string[] = []
  let isOver = false
  let changed = Promise.withResolvers<void>()
  const change = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  return {
    push: (text) => {
      waiting.push(text)
      change()
    },
    end: () => {
      isOver = true
      change()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const text = waiting.shift()
        if (text !== undefined)
          yield { type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null }
        else if (isOver) return
        else await changed.promise
      }
    },
  }
}
