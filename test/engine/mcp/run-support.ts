import { dirname } from 'node:path'
import process from 'node:process'
import type { Item } from '../../../engine/core/events.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'
import { reference } from './servers-support.ts'

const modules = new URL('../../../node_modules', import.meta.url).pathname
/**
 * The directories of Node and of the servers' packages, as JSON. Commands must be able to read them even if they are in a place that the sandbox
 * hides.
 */
const visible = JSON.stringify([modules, dirname(process.execPath)])

/** Runs `agent exec --json` with a configuration in TOML. */
export async function withServers(
  toml: string,
  replies: Parameters<typeof exec>[0],
  options: {
    readonly cwd?: string
    readonly args?: readonly string[]
    /** The prompt of the run. By default, it is `go`. */
    readonly prompt?: string
    /** Files in the user's home. */
    readonly files?: Readonly<Record<string, string>>
  } = {},
): Promise<Exec & { readonly cwd: string }> {
  const config = `${toml}\n[sandbox_read]\nallow = ${visible}\n`
  const home = tempDir({ '.config/portcullis/config.toml': config, ...options.files })
  const cwd = options.cwd ?? repository()
  const args = ['--json', ...(options.args ?? []), options.prompt ?? 'go']
  return { ...(await exec(replies, args, { cwd, home, env: { TOKEN: 'of-the-test' } })), cwd }
}

/** The configuration of the reference server `everything`. */
export const everything = `[mcp_servers.everything]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(reference('everything'))}]
startup_timeout_sec = 30
`

/** Returns the configuration of an MCP server whose code is `source`, in JavaScript. The caller may append further keys to its table. */
export function madeUp(name: string, source: string): string {
  return `[mcp_servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["--input-type=module", "-e", ${JSON.stringify(source)}]\n`
}

/** The items that were completed, in order. */
export const items = ({ events }: Exec): readonly Item[] =>
  events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
