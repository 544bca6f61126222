import { Readable, Writable } from 'node:stream'
import { startDoor, type Door, type Line } from './door.ts'

/** What the tests use of `@agentclientprotocol/sdk`. The package may be missing, so its own types can't be imported. */
type Sdk = {
  readonly client: (options: object) => App
  readonly ndJsonStream: (output: WritableStream, input: ReadableStream) => object
}

type App = {
  onRequest(method: string, serve: (context: { readonly params: never }) => unknown): App
  onNotification(method: string, serve: (context: { readonly params: never }) => unknown): App
  connect(stream: object): { readonly agent: Agent }
}

type Agent = {
  request(method: string, params: object): Promise<Readonly<Record<string, unknown>>>
  notify(method: string, params: object): Promise<void>
}

/** An update of a session. */
export type Update = { readonly sessionUpdate: string } & Readonly<Record<string, unknown>>

/** A question about permission. */
export type Question = {
  readonly sessionId: string
  readonly toolCall: Update & { readonly toolCallId: string }
  readonly options: readonly { readonly optionId: string; readonly kind: string }[]
}

/** A client of the SDK that drives a door. */
export type Client = Door & {
  readonly request: Agent['request']
  readonly notify: Agent['notify']
  readonly updates: Update[]
  readonly questions: Question[]
  /** The methods of the client that the door has called. */
  readonly called: Set<string>
}

/** Connects the SDK's client to a door, and initializes it. `answer` chooses an option by its kind; the default allows once. */
export async function connect(
  line: Line,
  answer: (question: Question) => string | undefined | Promise<string | undefined> = () => 'allow_once',
): Promise<Client> {
  const door = await startDoor(line)
  const { client, ndJsonStream } = (await import(
    new URL('../node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js', import.meta.url).href
  )) as Sdk
  const [updates, questions, called] = [[] as Update[], [] as Question[], new Set<string>()]
  const app = client({ name: 'test' })
    .onNotification('session/update', ({ params }) => {
      updates.push((params as { readonly update: Update }).update)
    })
    .onRequest('session/request_permission', async ({ params }) => {
      const question = params as Question
      questions.push(question)
      const kind = await answer(question)
      const option = question.options.find((each) => each.kind === kind)
      return {
        outcome: option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId },
      }
    })
  for (const method of ['fs/read_text_file', 'fs/write_text_file', 'terminal/create'])
    app.onRequest(method, () => {
      called.add(method)
      throw new Error('not allowed')
    })
  const { agent } = app.connect(
    ndJsonStream(
      Writable.toWeb(door.child.stdin) as WritableStream,
      Readable.toWeb(door.child.stdout) as unknown as ReadableStream,
    ),
  )
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true }
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities })
  return {
    ...{ ...door, updates, questions, called },
    request: (method, params) => agent.request(method, params),
    notify: (method, params) => agent.notify(method, params),
  }
}

/** A client with a session, and a way to prompt in it. */
export type Prompting = Client & {
  readonly sessionId: string
  readonly prompt: (text: string, ...more: readonly object[]) => Promise<Readonly<Record<string, unknown>>>
}

/** Connects a client and begins a session. */
export async function begin(line: Line, answer?: Parameters<typeof connect>[1], more: object = {}): Promise<Prompting> {
  const client = await connect(line, answer)
  const { sessionId } = await client.request('session/new', { cwd: client.cwd, mcpServers: [], ...more })
  return within(client, String(sessionId))
}

/** Prompts of a client in one of its sessions. */
export function within(client: Client, sessionId: string): Prompting {
  return {
    ...client,
    sessionId,
    prompt: (text, ...more) =>
      client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }, ...more] }),
  }
}

/** The updates of one kind. */
export function updatesOf({ updates }: Pick<Client, 'updates'>, kind: string): readonly Update[] {
  return updates.filter(({ sessionUpdate }) => sessionUpdate === kind)
}

/** The text of the chunks of one kind. */
export function textOf(client: Pick<Client, 'updates'>, kind = 'agent_message_chunk'): string {
  return updatesOf(client, kind)
    .map(({ content }) => (content as { readonly text: string }).text)
    .join('')
}
