import { SandboxError } from '../../../sandbox/index.ts'
import { sanitizeOutput } from '../../core/text/sanitize-output.ts'
import { answerCommand, answerRunning, describeEnd } from '../command-result.ts'
import { type CommandRequest } from '../command-action.ts'
import { startCommand } from '../run-shell-call.ts'
import type { ToolContext } from '../tool.ts'
import type { ToolResult } from '../tool-result.ts'
import type { TaskWork } from './background-tasks.ts'

/**
 * Starts a command as the work of a background task. The command is reviewed like any other, and becomes one of the run's command sessions. If it can't be
 * started, the function returns the result with which the call fails.
 */
export async function commandWork(request: CommandRequest, context: ToolContext): Promise<TaskWork | ToolResult> {
  const started = await startCommand(request, context)
  if (started.kind === 'not-run') return started.result
  const { id, command, finished } = started
  const { sessions, mask } = context.state
  let failure: string | undefined
  const ended = finished.then(
    ({ result }) => {
      // The task reports how the command ended, so the session is no longer needed.
      sessions.remove(id)
      return { ok: result.status === 'exited' && result.code === 0, how: describeEnd(result) }
    },
    (error: unknown) => {
      sessions.remove(id)
      const why = (error as Error).message
      failure =
        error instanceof SandboxError
          ? `The command was not started: ${why}`
          : `The command was started, but how it ended isn't known: ${why}`
      return { ok: false, how: failure }
    },
  )
  return {
    kind: 'command',
    known: `session ${id}`,
    ended,
    look: async ({ waitedMs, maxTokens }) => {
      const isOver = sessions.get(id) !== command
      if (failure !== undefined) return { ok: false, output: failure }
      const output = mask(sanitizeOutput(command.takeUnread()))
      if (!isOver) {
        return answerRunning({ id, output, denials: await command.sandbox.inspect(), waitedMs, maxTokens }, context)
      }
      const { file, ...whole } = await finished
      return answerCommand({ ...whole, output, file }, { maxTokens, ignored: [] }, context)
    },
    stop: () => command.kill(),
  }
}
