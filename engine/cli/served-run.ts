import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { RunEvent } from '../events.ts'
import type { ServedResult, ServedTool } from '../mcp/serve.ts'

const input = z.object({
  prompt: z.string().min(1).describe('What to do.'),
  thread_id: z.string().min(1).optional().describe('Go on with this earlier run instead of beginning a new one.'),
})

/**
 * A whole run of this program as a tool: `agent exec` in a process of its own, with the server's own configuration.
 *
 * @param words the options that the server was started with
 */
export function servedRun(words: readonly string[], workspace: string): ServedTool {
  return {
    name: 'exec',
    description: 'Has a coding agent do a task in the workspace, sandboxed, and gives its final message.',
    input,
    run: async (given, signal, told) => {
      const { prompt, thread_id: thread } = input.parse(given)
      const [program = ''] = process.argv.slice(1)
      const start = thread === undefined ? [] : ['resume', thread]
      const argv = [program, 'exec', ...start, '--json', '--skip-git-repo-check', ...words, '--', prompt]
      const child = spawn(process.execPath, argv, { cwd: workspace, stdio: ['ignore', 'pipe', 'inherit'] })
      const stop = (): void => void child.kill('SIGTERM')
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
      const seen = await follow(createInterface({ input: child.stdout }), told)
      const [code] = await ended
      signal.removeEventListener('abort', stop)
      return resultOf(seen, code)
    },
  }
}

type Seen = { readonly thread: string | undefined; readonly message: string; readonly failure: string | undefined }

async function follow(lines: AsyncIterable<string>, told: (message: string) => void): Promise<Seen> {
  let seen: Seen = { thread: undefined, message: '', failure: undefined }
  for await (const line of lines) {
    const event = RunEvent.parse(JSON.parse(line))
    if (event.type === 'thread.started') seen = { ...seen, thread: event.thread_id }
    if (event.type === 'turn.failed') seen = { ...seen, failure: event.error.message }
    if (event.type !== 'item.completed') continue
    if (event.item.type === 'agent_message') seen = { ...seen, message: event.item.text }
    if (event.item.type === 'command_execution') told(event.item.command)
    if (event.item.type === 'file_change') told(`changed ${event.item.changes.map(({ path }) => path).join(', ')}`)
  }
  return seen
}

function resultOf({ thread, message, failure }: Seen, code: number | null): ServedResult {
  const data = { exit_code: code, message, ...(thread === undefined ? {} : { thread_id: thread }) }
  if (code === 0) return { ok: true, text: message, data }
  const why = failure ?? `the run ended with code ${String(code)}`
  return { ok: false, text: message === '' ? why : `${message}\n\n${why}`, data: { ...data, error: why } }
}
