import type * as z from 'zod'
import { isTable } from '../core/is-table.ts'
import { UserError } from '../core/user-error.ts'
import { parseForeignJson, type ForeignJson } from '../config/foreign/parse-json.ts'
import { readForeignText } from '../config/foreign/read-text.ts'
import { McpJsonRemote, McpJsonStdio } from '../config/server-schema.ts'
import { expandVariables, reach, type Environment } from './read-servers.ts'
import { startupSeconds, type McpServer, type McpTransport } from './server.ts'
import { describeName, serverName } from './server-name.ts'

/** The servers of a file in Claude Code's format, and messages, with locations, about parts that can't be used and servers that were renamed. */
export type JsonServers = { readonly servers: readonly McpServer[]; readonly faults: readonly string[] }

/** Options for reading the servers that a file configures. */
type Reading = {
  readonly env: Environment
  /** The folder that must contain the file after links are resolved. Default: the file may be anywhere. */
  readonly within?: string
  /** A prefix for the servers' names, used for plugins. Default: none. */
  readonly prefix?: string
  /** The size limit of the file, in bytes. Default: 1 MiB. */
  readonly maxBytes?: number
}

const none: JsonServers = { servers: [], faults: [] }

/**
 * Reads the servers of a `.mcp.json`, from a table `mcpServers` or from the top level. A missing file has no servers. These servers always
 * run in the sandbox, and their claims about their tools are not trusted. A server with an error is left out; the others are kept.
 */
export function serversOfMcpJson(path: string, reading: Reading): JsonServers {
  const file = readJsonFile(path, reading)
  if (file === undefined) return none
  if ('reason' in file) return { servers: [], faults: [file.reason] }
  if (!isTable(file.value)) return { servers: [], faults: [`${file.place([])}: expected {"mcpServers": {…}}`] }
  if (Object.hasOwn(file.value, 'mcpServers')) return serversIn(file, ['mcpServers'], reading)
  const named = Object.entries(file.value).filter(([, one]) => isTable(one) && ('command' in one || 'url' in one))
  return together(named.map(([name, one]) => serverOf({ name, value: one, at: [name] }, file, reading)))
}

/**
 * Reads a JSON file together with the locations of its values. Returns undefined if the file is missing, and the reason, with its location, if the
 * file can't be read.
 */
export function readJsonFile(
  path: string,
  { within, maxBytes }: Pick<Reading, 'within' | 'maxBytes'>,
): ForeignJson | { readonly reason: string } | undefined {
  const text = readForeignText(path, {
    ...(within === undefined ? {} : { within }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  })
  if (text === undefined) return undefined
  return typeof text === 'string' ? parseForeignJson(text, path) : { reason: `${path}: ${text.reason}` }
}

/** Reads the servers of the table at a path within a file; none if there is no such table. */
export function serversIn(file: ForeignJson, at: readonly PropertyKey[], reading: Reading): JsonServers {
  const table = at.reduce<unknown>((value, key) => memberOf(value, key), file.value)
  if (table === undefined) return none
  if (!isTable(table)) return { servers: [], faults: [`${file.place(at)}: expected a table of servers`] }
  const each = Object.entries(table).flatMap(([name, value]) =>
    // A server in the client's own process isn't reached by a file: the client announces it.
    isTable(value) && value['type'] === 'sdk' ? [] : [serverOf({ name, value, at: [...at, name] }, file, reading)],
  )
  return together(each)
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  if (Array.isArray(value)) return value[Number(key)]
  return isTable(value) && Object.hasOwn(value, key) ? value[String(key)] : undefined
}

/** Merges the servers and the messages of several tables or files. */
export function together(each: readonly JsonServers[]): JsonServers {
  return { servers: each.flatMap(({ servers }) => servers), faults: each.flatMap(({ faults }) => faults) }
}

type Entry = { readonly name: string; readonly value: unknown; readonly at: readonly PropertyKey[] }

/** What the table of a server contains: its transport, other settings, and the keys that have no effect here. */
type Transported = {
  readonly transport: McpTransport
  readonly timeout: number | undefined
  readonly alwaysLoad: boolean | undefined
  readonly unknown: readonly string[]
}

function serverOf({ name, value, at }: Entry, file: ForeignJson, { env, prefix = '' }: Reading): JsonServers {
  const origin = file.place(at)
  const quoted = JSON.stringify(name)
  try {
    const { transport, timeout, alwaysLoad, unknown } = transportOf(value, env, origin)
    const server: McpServer = {
      name: serverName(`${prefix}${name}`),
      origin,
      transport,
      required: false,
      startupTimeoutMs: startupSeconds * 1000,
      toolTimeoutMs: timeout ?? 60_000,
      enabledTools: undefined,
      disabledTools: [],
      trusted: false,
      alwaysLoad: alwaysLoad ?? false,
    }
    const renamed = prefix === '' ? describeName(name, origin) : []
    const idle =
      unknown.length === 0
        ? []
        : [`${origin}: the server ${quoted} has keys that have no effect here: ${unknown.join(', ')}.`]
    return { servers: [server], faults: [...renamed, ...idle] }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { servers: [], faults: [`${error.message}. The server ${quoted} is left out.`] }
  }
}

/**
 * Reads the transport and the other settings from a server's table.
 *
 * @throws UserError `usage` for an invalid table, and for a variable that is not set
 */
function transportOf(table: unknown, env: Environment, origin: string): Transported {
  const fill = (text: string): string => expandVariables(text, env, origin)
  const fillAll = (values: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fill(value)]))
  if (isTable(table) && 'command' in table) {
    const { command, args = [], env: own, timeout, alwaysLoad } = checked(McpJsonStdio, table, origin)
    const argv = [fill(command), ...args.map(fill)] as const
    const transport = { type: 'stdio' as const, argv, env: fillAll(own), cwd: undefined, sandboxed: true }
    return { transport, timeout, alwaysLoad, unknown: unknownKeys(table, McpJsonStdio) }
  }
  if (!isTable(table) || !('url' in table))
    throw new UserError('usage', `${origin}: expected an object with a command or a url`)
  const { url: written, type, headers, timeout, alwaysLoad } = checked(McpJsonRemote, table, origin)
  const url = fill(written)
  if (!URL.canParse(url))
    throw new UserError('usage', `${origin}: '${url}' is not a URL; expected one like https://example.com/mcp`)
  const transport = reach(new URL(url), type === 'streamable-http' ? 'http' : type, fillAll(headers), origin)
  return { transport, timeout, alwaysLoad, unknown: unknownKeys(table, McpJsonRemote) }
}

function checked<Schema extends z.ZodType>(schema: Schema, table: unknown, origin: string): z.output<Schema> {
  const result = schema.safeParse(table)
  if (result.success) return result.data
  const said = result.error.issues.map(({ path, message }) => `'${path.join('.')}': ${message}`)
  throw new UserError('usage', `${origin}: ${said.join('; ')}`)
}

function unknownKeys(table: object, { shape }: { readonly shape: object }): readonly string[] {
  return Object.keys(table).filter((key) => !Object.hasOwn(shape, key))
}
