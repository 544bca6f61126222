import * as z from 'zod'
import { cleanOutput } from '../text/clean.ts'
import { answerCommand, answerRunning } from './command-result.ts'
import type { LiveCommand } from './command-sessions.ts'
import { defineTool } from './define-tool.ts'
import { denied } from './denied.ts'
import type { Tool, ToolContext } from './tool.ts'
import type { ToolResult } from './tool-result.ts'

const defaultYieldMs = 1000
const defaultPollMs = 10_000

const session = z.int().min(1).describe('The session ID that exec_command gave.')

/** Types into a command that goes on, or waits for what it prints. */
export const writeStdin: Tool = defineTool({
  name: 'write_stdin',
  guarded: true,
  description:
    'Types into a command that is still running (started with tty), or with no chars waits for it, and shows what it printed since. ' +
    '"\\n" is Enter, "\\u0003" control-C.',
  input: z.object({
    session_id: session,
    chars: z.string().optional().describe('What to type. Default: nothing, only wait.'),
    yield_time_ms: z
      .int()
      .min(1)
      .max(300_000)
      .optional()
      .describe('How long to wait for its end. Default 1000; 10000 with no chars.'),
    max_output_tokens: z.int().min(1).max(100_000).optional().describe('How much output comes back. Default 10000.'),
  }),
  async run({ session_id: id, chars = '', yield_time_ms: ms, max_output_tokens: maxTokens }, context) {
    const command = context.state.sessions.get(id)
    if (command === undefined) return unknownSession(id, context)
    if (chars !== '') {
      if (!command.hasTerminal) {
        return { ok: false, output: `Session ${id} has no terminal to type into: start the command with "tty": true.` }
      }
      const refused = await refuseTyping(command, chars, context)
      if (refused !== undefined) return refused
      command.type(chars)
    }
    const started = performance.now()
    const result = await command.endWithin(ms ?? (chars === '' ? defaultPollMs : defaultYieldMs), context.signal)
    return look(id, command, result, { started, maxTokens }, context)
  },
})

/** Ends a command that goes on. */
export const killSession: Tool = defineTool({
  name: 'kill_session',
  guarded: true,
  description: 'Ends a command that is still running, with everything it started, and shows what it printed last.',
  input: z.object({ session_id: session }),
  async run({ session_id: id }, context) {
    const command = context.state.sessions.get(id)
    if (command === undefined) return unknownSession(id, context)
    const started = performance.now()
    command.kill()
    const result = await command.result
    return { ...(await look(id, command, result, { started, maxTokens: undefined }, context)), ok: true }
  },
})

function unknownSession(id: number, { state }: ToolContext): ToolResult {
  const { ids } = state.sessions
  const known = ids.length === 0 ? 'No command is running' : `Running: ${ids.join(', ')}`
  return { ok: false, output: `There is no session ${id}; it may have ended, and been told of. ${known}.` }
}

/**
 * What is typed may be a command that would not have been approved, so each line is judged as one. Keys that say nothing, such as
 * control-C, need no leave.
 */
async function refuseTyping(
  command: LiveCommand,
  chars: string,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  const line = `${command.typed}${chars}`
  command.typed = line.slice(Math.max(line.lastIndexOf('\n'), line.lastIndexOf('\r')) + 1)
  const text = line.replace(/[\u0003\u0004\r\n]+/g, '\n').trim()
  if (text === '') return undefined
  const action = {
    type: 'exec' as const,
    argv: [context.sandbox.shell, '-c', text],
    cwd: context.workspace,
    sandbox: command.mode,
  }
  const { verdict } = await context.guardian.review(action, { signal: context.signal, subject: context.callId })
  if (verdict.decision === 'allow') return undefined
  command.typed = ''
  return denied(verdict)
}

/** What a command has printed since it was last looked at, and whether it goes on. */
async function look(
  id: number,
  command: LiveCommand,
  result: Awaited<LiveCommand['result']> | undefined,
  { started, maxTokens }: { readonly started: number; readonly maxTokens: number | undefined },
  context: ToolContext,
): Promise<ToolResult> {
  const bytes = command.takeUnread()
  const output = context.state.mask(cleanOutput(bytes))
  if (result === undefined) {
    const denials = await command.sandbox.inspect()
    return answerRunning({ id, output, denials, waitedMs: performance.now() - started, maxTokens }, context)
  }
  context.state.sessions.remove(id)
  return answerCommand({ result, mode: command.mode, output, file: undefined }, { maxTokens, ignored: [] }, context)
}
