import { setLongTimeout, type LongTimeout } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import type { McpCallResult, McpConnection, McpProgress, McpDependencies, McpToolDescription } from './connection.ts'
import type { McpServer } from './server.ts'

/** The state of one of a run's servers. */
type ServerState = {
  readonly server: McpServer
  /** The server's tools that the configuration allows; empty until the server has started. */
  readonly tools: readonly McpToolDescription[]
  /** The server's instructions; empty if it has none or hasn't started. */
  readonly instructions: string
  /** Why the latest attempt to connect failed; undefined if it succeeded, or if the first attempt is still in progress. */
  readonly problem: string | undefined
}

/** The servers of a run. */
export type McpServers = {
  readonly states: () => readonly ServerState[]
  /** The names of the servers whose first start is still in progress. */
  readonly starting: () => readonly string[]
  /** Resolves when each server has either started or failed to start. */
  readonly settled: () => Promise<void>
  /**
   * Calls a tool. If the connection was lost, it is first opened again, which restarts a server that runs as a process. Rejects with a readable
   * message.
   */
  readonly call: (
    server: string,
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onProgress?: (progress: McpProgress) => void,
  ) => Promise<McpCallResult>
  /** Returns the open connection to a server. If there is none, or it was lost, a new one is opened. Rejects with a readable message. */
  readonly connection: (server: string) => Promise<McpConnection>
  readonly close: () => Promise<void>
}

type Entry = {
  readonly server: McpServer
  connection: McpConnection | undefined
  /** The connection that is being opened. All calls that need it wait for this one attempt. */
  connecting: Promise<McpConnection> | undefined
  tools: readonly McpToolDescription[]
  problem: string | undefined
}

/** Options for starting servers. */
type StartOptions = {
  /**
   * Called when a server's tools change, or when a server that `startServers` didn't wait for has started or failed. Default: nothing is called.
   */
  readonly onChanged?: (server: McpServer, problem: string | undefined) => void
  /** Whether to wait for a server that is not required. Default: wait for all servers. */
  readonly waitsFor?: (server: McpServer) => boolean
}

/**
 * Connects to all servers at once.
 *
 * @throws UserError `usage` if a server that is `required` is not available
 */
export async function startServers(
  servers: readonly McpServer[],
  dependencies: Omit<McpDependencies, 'onToolsChanged'>,
  { onChanged = () => undefined, waitsFor = () => true }: StartOptions = {},
): Promise<McpServers> {
  // Only this import loads the SDK, so that a run without servers doesn't load it.
  const { connect, ForgottenError } = await import('./connect.ts')
  const entries = new Map(
    servers.map((server): [string, Entry] => [
      server.name,
      { server, connection: undefined, connecting: undefined, tools: [], problem: undefined },
    ]),
  )

  const ending = new AbortController()
  const signal = AbortSignal.any([dependencies.signal, ending.signal])

  async function open(entry: Entry): Promise<McpConnection> {
    const { server } = entry
    let [isListing, isStale] = [false, false]
    // A server may say so as often as it likes: its tools are listed once more after the list that is being read.
    const onToolsChanged = (): void => {
      isStale = true
      if (isListing) return
      isListing = true
      void listAgain()
        .then(
          () => onChanged(server, undefined),
          () => undefined,
        )
        .finally(() => (isListing = false))
    }
    const listAgain = async (): Promise<void> => {
      while (isStale) {
        isStale = false
        await refresh(entry)
      }
    }
    // The old connection is closed, because it may still be trying to reach the server.
    void entry.connection?.close().catch(() => undefined)
    const connecting = connect(server, { ...dependencies, signal, onToolsChanged })
    const connection = await within(connecting, server.startupTimeoutMs)
    entry.connection = connection
    await refresh(entry)
    entry.problem = undefined
    return connection
  }

  async function refresh(entry: Entry): Promise<void> {
    const { server, connection } = entry
    if (connection === undefined) return
    const listed = await connection.listTools()
    entry.tools = listed.filter(
      ({ name }) => (server.enabledTools?.includes(name) ?? true) && !server.disabledTools.includes(name),
    )
  }

  async function connectionOf(name: string): Promise<McpConnection> {
    const entry = entries.get(name)
    if (entry === undefined)
      throw new Error(`there is no MCP server ${name}; configured servers: ${[...entries.keys()].join(', ')}`)
    if (entry.connection !== undefined && entry.connection.ended() === undefined) return entry.connection
    entry.connecting ??= open(entry).finally(() => (entry.connecting = undefined))
    try {
      return await entry.connecting
    } catch (error) {
      entry.problem = (error as Error).message
      throw new Error(`the MCP server ${name} is not available: ${entry.problem}`, { cause: error })
    }
  }

  const close = async (): Promise<void> => {
    ending.abort()
    await Promise.allSettled(
      [...entries.values()].map(async ({ connection, connecting }) => (connection ?? (await connecting))?.close()),
    )
  }

  const starting = new Map<string, Promise<void>>()
  let waiting = true
  for (const [name, entry] of entries) {
    const started = connectionOf(name).then(
      () => undefined,
      () => undefined,
    )
    const settled = started.then(() => {
      starting.delete(name)
      if (!waiting && !signal.aborted) onChanged(entry.server, entry.problem)
    })
    starting.set(name, settled)
  }
  await Promise.all(servers.filter((one) => one.required || waitsFor(one)).map(({ name }) => starting.get(name)))
  waiting = false
  const missing = [...entries.values()].filter(({ server, problem }) => server.required && problem !== undefined)
  if (missing.length > 0) {
    await close()
    const lines = missing.map(
      ({ server, problem }) =>
        `${server.origin}: the MCP server ${server.name} is required but not available: ${problem}`,
    )
    throw new UserError('usage', lines.join('\n'))
  }

  return {
    states: () =>
      [...entries.values()].map(({ server, tools, problem, connection }) => {
        const instructions = connection?.instructions ?? ''
        return { server, tools, problem, instructions }
      }),
    starting: () => [...starting.keys()],
    settled: async () => void (await Promise.all(starting.values())),
    call: async (name, tool, input, signal, onProgress) => {
      try {
        return await (await connectionOf(name)).call(tool, input, signal, onProgress)
      } catch (error) {
        if (!(error instanceof ForgottenError)) throw error
        return (await connectionOf(name)).call(tool, input, signal, onProgress)
      }
    },
    connection: connectionOf,
    close,
  }
}

/** Limits how long a server may take to start. Otherwise a server that starts and then stays silent would delay the run forever. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: LongTimeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setLongTimeout(() => reject(new Error(`it was not ready within ${milliseconds / 1000} s`)), milliseconds)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    timer?.cancel()
  }
}
