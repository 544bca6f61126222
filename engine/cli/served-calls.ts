import * as z from 'zod'
import type { Run } from '../app/run-request.ts'
import type { ServedTool } from '../mcp/serve.ts'

/** A tool that runs commands. Each call is handled like a call from a model. */
export function shellTool(run: Pick<Run, 'call'>): ServedTool {
  const input = z.object({
    command: z.string().min(1).describe('The command line, as the shell reads it.'),
    workdir: z.string().optional().describe('Directory to run in, relative to the workspace.'),
    timeout_ms: z.int().min(1).max(3_600_000).optional().describe('Milliseconds until it is killed. Default 120000.'),
  })
  return {
    name: 'sandboxed_shell',
    description: 'Runs a shell command in the workspace, inside a sandbox, and returns its output and exit code.',
    input,
    run: async (given, signal) => {
      const { command, ...rest } = input.parse(given)
      const { output, ok } = await run.call('exec_command', { cmd: command, ...rest }, signal)
      return { text: output, ok }
    },
  }
}

/** A tool that applies patches. */
export function patchTool(run: Pick<Run, 'call'>): ServedTool {
  const input = z.object({ patch: z.string().min(1).describe('From "*** Begin Patch" to "*** End Patch".') })
  return {
    name: 'apply_patch',
    description: 'Changes files in the workspace with a patch, completely or not at all.',
    input,
    run: async (given, signal) => {
      const { output, ok } = await run.call('apply_patch', { input: input.parse(given).patch }, signal)
      return { text: output, ok }
    },
  }
}
