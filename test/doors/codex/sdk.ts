import { existsSync } from 'node:fs'
import type { MockOpenAI } from '../../support/mock-openai.ts'
import type { Replies } from '../../support/mock-model.ts'
import { environment, homeWith, mockOf, spied } from './door.ts'

/** What the tests use of `@openai/codex-sdk`. The package may be missing, so its own types can't be imported. */
export type Thread = {
  readonly id: string | null
  run(input: Input, options?: TurnOptions): Promise<Turn>
  runStreamed(input: Input, options?: TurnOptions): Promise<{ readonly events: AsyncIterable<ThreadEvent> }>
}
type Input = string | readonly { readonly type: string; readonly text?: string; readonly path?: string }[]
type TurnOptions = { readonly outputSchema?: unknown; readonly signal?: AbortSignal }
type Turn = {
  readonly items: readonly unknown[]
  readonly finalResponse: string
  readonly usage: Readonly<Record<string, number>> | null
}
type ThreadEvent = { readonly type: string } & Readonly<Record<string, unknown>>
type Codex = {
  startThread(options?: Readonly<Record<string, unknown>>): Thread
  resumeThread(id: string, options?: Readonly<Record<string, unknown>>): Thread
}
type Sdk = { readonly Codex: new (options: Readonly<Record<string, unknown>>) => Codex }

const sdk = new URL('../node_modules/@openai/codex-sdk/dist/index.js', import.meta.url)

/** Why OpenAI's SDK can't be used here; undefined if it can. */
export function whyNoSdk(): string | undefined {
  return existsSync(sdk)
    ? undefined
    : '@openai/codex-sdk is not installed in test/doors (sh .ci/ensure-doors does that)'
}

/** A client of OpenAI's SDK that starts the program and asks a mock of the API. */
export type Client = {
  readonly codex: Codex
  readonly mock: MockOpenAI
  /** The words with which the program was started last. */
  readonly words: () => readonly string[]
}

/** Opens a client. */
export async function client(replies: Replies, options: Readonly<Record<string, unknown>> = {}): Promise<Client> {
  const { Codex } = (await import(sdk.href)) as Sdk
  const mock = await mockOf(replies)
  const { path, words } = spied()
  const env = environment(homeWith())
  return {
    mock,
    words,
    codex: new Codex({ codexPathOverride: path, baseUrl: mock.baseUrl, apiKey: 'test', env, ...options }),
  }
}

/** The values of an option in a command line. */
export function valuesOf(words: readonly string[], option: string): readonly string[] {
  return words.flatMap((word, at) => (word === option ? [words[at + 1] ?? ''] : []))
}
