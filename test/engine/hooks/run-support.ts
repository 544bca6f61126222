import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { Item } from '../../../engine/core/events.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'

/** A response with one call, which runs this command. */
export const run = (cmd: string): Reply => [call('exec_command', { cmd })]
/** A response that ends the run. */
export const done: Reply = [say('done')]

/** Runs `agent exec --json` with these hooks in the user's Claude Code settings; `files` are executable files in the user's home directory. */
export async function withHooks(
  hooks: object,
  replies: Parameters<typeof exec>[0],
  options: {
    readonly args?: readonly string[]
    readonly files?: Readonly<Record<string, string>>
    readonly cwd?: string
    /** The prompt of the run. By default, it is `go`. */
    readonly prompt?: string
  } = {},
): Promise<Exec & { readonly cwd: string; readonly home: string }> {
  const home = tempDir({ '.claude/settings.json': JSON.stringify({ hooks }), ...options.files })
  for (const script of Object.keys(options.files ?? {})) chmodSync(join(home, script), 0o755)
  const cwd = options.cwd ?? repository()
  const ended = await exec(replies, ['--json', ...(options.args ?? []), options.prompt ?? 'go'], { cwd, home })
  return { ...ended, cwd, home }
}

/** The last request that was sent to the model, as text. */
export function toldModel({ requests }: Exec): string {
  return JSON.stringify(requests.at(-1)?.body)
}

/** The items that were completed, in order. */
export const items = ({ events }: Exec): readonly Item[] =>
  events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
