import { join } from 'node:path'
import { UserError } from '../core/user-error.ts'
import { readConfigText } from './read-files.ts'
import { replaceUserFile } from './replace-user-file.ts'
import type { McpServerTable } from './server-schema.ts'
import { UserFile } from './settings-schema.ts'
import { formatToml, lineOf, parseToml, tryParseToml, withTable } from './toml.ts'
import { validate } from './validate.ts'

const section = 'mcp_servers'

/**
 * Adds an MCP server to the user's config.toml. Leaves everything else in the file as it is.
 *
 * @param directory the user's configuration folder; created if it doesn't exist
 * @returns the file's path
 * @throws UserError `usage` if the file is invalid or has a server of this name, or the table isn't one of a server
 */
export function addUserServer(directory: string, name: string, table: Readonly<Record<string, unknown>>): string {
  const { file, text, servers } = read(directory)
  if (servers[name] !== undefined) {
    const line = lineOf(text, [section, name])
    throw new UserError(
      'usage',
      `${file}:${line}: there is a server ${name} already. To replace it, first run: agent mcp remove ${name}`,
    )
  }
  const longer = withTable(text, formatToml({ [section]: { [name]: table } }))
  const parsed = tryParseToml(longer)
  if (parsed === undefined)
    throw new UserError(
      'usage',
      `${file}: can't be extended automatically, because of how it defines ${section}; add the server yourself`,
    )
  validate(UserFile, parsed, { name: file, text: longer })
  replaceUserFile(file, longer)
  return file
}

/**
 * Removes an MCP server from the user's config.toml. Leaves everything else in the file as it is.
 *
 * @returns the file's path, and whether the server was there
 * @throws UserError `usage` if the file is invalid, or the server is defined in another way than by tables of its own
 */
export function removeUserServer(
  directory: string,
  name: string,
): { readonly file: string; readonly removed: boolean } {
  const { file, text, servers } = read(directory)
  if (servers[name] === undefined) return { file, removed: false }
  const shorter = withoutTables(text, name)
  // Whatever the lines looked like, nothing but this server has gone.
  const left = tryParseToml(shorter)
  if (lineOf(shorter, [section, name]) !== undefined || asJson(parseToml(text, file), name) !== asJson(left, name)) {
    const line = lineOf(text, [section, name])
    throw new UserError(
      'usage',
      `${file}:${line}: can't be removed automatically, because of how the file defines ${name}; remove it yourself`,
    )
  }
  replaceUserFile(file, shorter)
  return { file, removed: true }
}

function read(directory: string): {
  readonly file: string
  readonly text: string
  readonly servers: Readonly<Record<string, McpServerTable>>
} {
  const file = join(directory, 'config.toml')
  const text = readConfigText(file)
  const { mcp_servers: servers = {} } = validate(UserFile, parseToml(text, file), { name: file, text })
  return { file, text, servers }
}

/** A document without a server, for comparison. Undefined if the document isn't valid. */
function asJson(document: Readonly<Record<string, unknown>> | undefined, without: string): string | undefined {
  if (document === undefined) return undefined
  const { [section]: servers = {}, ...rest } = document
  const others = Object.entries(servers as object).filter(([name]) => name !== without)
  return JSON.stringify([rest, others])
}

/** Leaves out the tables of a server. Comments above the next table belong to that one. */
function withoutTables(text: string, name: string): string {
  const lines = text.split('\n')
  const kept: string[] = []
  let [isInside, comments] = [false, [] as string[]]
  for (const [at, line] of lines.entries()) {
    const path = /^\s*\[/.test(line) ? tryParseToml(line) : undefined
    // In the middle of a text of several lines, what is above isn't a document.
    if (path !== undefined && tryParseToml(lines.slice(0, at).join('\n')) !== undefined) {
      const { [section]: servers } = path
      isInside = typeof servers === 'object' && servers !== null && Object.hasOwn(servers, name)
      if (!isInside) kept.push(...comments.slice(comments[0]?.trim() === '' ? 1 : 0))
    }
    if (!isInside) kept.push(line)
    comments = isInside && /^\s*(?:#|$)/.test(line) ? [...comments, line] : []
  }
  const shorter = [...kept, ...comments].join('\n').trimEnd()
  return shorter === '' ? '' : `${shorter}\n`
}
