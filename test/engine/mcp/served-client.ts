import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import process from 'node:process'
import { onTestFinished } from 'vitest'
import { tempDir } from '../../support/temp-dir.ts'

const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname

/** Starts the real `agent mcp-server`, and connects a client to it, as another agent would. */
export async function client(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const home = tempDir()
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp-server', ...args],
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, XDG_CACHE_HOME: `${home}/.cache`, ...env },
    stderr: 'ignore',
  })
  const made = new Client({ name: 'test', version: '1' })
  await made.connect(transport)
  onTestFinished(() => made.close())
  return made
}

/** The text of a call's result. */
export const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')
