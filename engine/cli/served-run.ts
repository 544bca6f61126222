import * as z from 'zod'
import { openRun } from '../app/open-run.ts'
import type { RunRequest } from '../app/run-request.ts'
import { plainSink } from '../display/plain.ts'
import type { RunEvent, Sink } from '../core/events.ts'
import { exitCodes } from '../core/exit-codes.ts'
import type { ServedResult, ServedTool } from '../mcp/serve.ts'
import { UserError } from '../core/user-error.ts'
import { rawOutput } from './print.ts'

const input = z.object({
  prompt: z.string().min(1).describe('What to do.'),
  thread_id: z.string().min(1).optional().describe('Continue this earlier run instead of beginning a new one.'),
})

/**
 * A tool that carries out a whole task, as `agent exec` does.
 *
 * @param request the fields that the requests of all runs of the server have in common
 */
export function servedRun(request: Omit<RunRequest, 'task'>): ServedTool {
  return {
    name: 'exec',
    description: 'Lets a coding agent do a task in the workspace, in a sandbox, and returns its final message.',
    input,
    run: async (given, signal, told) => {
      const { prompt, thread_id: id } = input.parse(given)
      let thread: string | undefined
      const follow: Sink = {
        event: (event) => {
          if (event.type === 'thread.started') thread = event.thread_id
          tellProgress(event, told)
        },
      }
      const run = openRun({
        ...request,
        task: { type: 'prompt', prompt },
        ...(id === undefined ? {} : { start: { type: 'resume', id, here: true } }),
        sinks: [plainSink((text) => rawOutput.stderr.write(text), { colour: false, detail: 'normal' }), follow],
      })
      const stop = (): void => run.interrupt('terminated')
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      try {
        const { exitCode, finalMessage, error } = await run.result
        return resultOf(exitCode, finalMessage, error, thread)
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        return resultOf(exitCodes[error.reason], '', error.message, thread)
      } finally {
        signal.removeEventListener('abort', stop)
        await run.close()
      }
    },
  }
}

function tellProgress(event: RunEvent, told: (message: string) => void): void {
  if (event.type !== 'item.completed') return
  const { item } = event
  if (item.type === 'command_execution') told(item.command)
  if (item.type === 'file_change') told(`changed ${item.changes.map(({ path }) => path).join(', ')}`)
}

function resultOf(
  code: number,
  message: string,
  failure: string | undefined,
  thread: string | undefined,
): ServedResult {
  const data = { exit_code: code, message, ...(thread === undefined ? {} : { thread_id: thread }) }
  if (code === 0) return { ok: true, text: message, data }
  const why = failure ?? `the run ended with code ${code}`
  return { ok: false, text: message === '' ? why : `${message}\n\n${why}`, data: { ...data, error: why } }
}
