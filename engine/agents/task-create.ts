import * as z from 'zod'
import { findDefinition } from './find-definition.ts'
import type { SubAgents } from './sub-agents.ts'
import type { AgentDefinition } from '../skills/definition.ts'
import { defineTool } from '../tools/define-tool.ts'
import { commandLimits } from '../tools/exec-command.ts'
import { patchInCommand } from '../tools/patch-in-command.ts'
import type { CommandRequest } from '../tools/command-action.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import { agentWork } from './agent-work.ts'
import { mostTasks, type TaskWork } from '../tools/tasks/background-tasks.ts'
import { commandWork } from '../tools/tasks/command-work.ts'

const naming = {
  title: z.string().min(1).max(80).describe('What the task is about, in a few words.'),
  description: z.string().min(1).max(2000).optional().describe('What the task is for, and when it counts as done.'),
}

const command = {
  cmd: z.string().min(1).describe('A shell command line.'),
  workdir: commandLimits.workdir,
  timeout_ms: z
    .int()
    .min(1)
    .max(3_600_000)
    .optional()
    .describe('Milliseconds after which the command is killed. Default: it may run as long as the whole run.'),
  tty: z.boolean().optional().describe('Give the command a terminal to type into with write_stdin. Default false.'),
  sandbox_permissions: commandLimits.sandbox_permissions,
  justification: commandLimits.justification,
  additional_permissions: commandLimits.additional_permissions,
}

const rules =
  `It continues while you do other things, in the same sandbox and under the same rules as exec_command. At most ${mostTasks} tasks run at once. ` +
  'You are notified once when it has ended; task_output shows its output, or waits for it. No task outlives the run: wait for what you need ' +
  'before you finish.'

const shared = {
  name: 'task_create',
  claudeNames: ['Bash', 'Agent'],
  deferred: true,
  searchHint: 'background run in background job long running server watch build parallel asynchronous',
  ownItems: true,
  guarded: true,
} as const

/** Starts commands as background tasks. */
export const taskCreate: Tool = defineTool({
  ...shared,
  description: `Starts a task in the background: a shell command. ${rules}`,
  input: z.object({ ...naming, ...command }),
  validate: ({ cmd }) => refusePatch(cmd),
  run: ({ title, description, ...request }, context) =>
    create({ title, description }, () => commandWork(asRequest(request, context), context), context),
})

/** Like `taskCreate`, but for runs that can also delegate work to agents. */
export function taskCreateFor(agents: SubAgents, definitions: readonly AgentDefinition[]): Tool {
  return defineTool({
    ...shared,
    description: `Starts a task in the background: a shell command (cmd), or a piece of work for another agent (prompt). ${rules}`,
    input: z.object({
      ...naming,
      ...command,
      cmd: command.cmd.optional(),
      prompt: z
        .string()
        .min(1)
        .optional()
        .describe('The whole task, for an agent that knows nothing about this conversation.'),
      agent: z.string().optional().describe('With prompt: one of the agents that the agent tool lists.'),
    }),
    validate: ({ cmd, prompt }) => {
      if ((cmd === undefined) === (prompt === undefined)) return 'task_create: pass either cmd or prompt.'
      return cmd === undefined ? undefined : refusePatch(cmd)
    },
    run: async ({ title, description, prompt, agent, cmd, ...request }, context) => {
      const named = { title, description }
      if (cmd !== undefined)
        return create(named, () => commandWork(asRequest({ cmd, ...request }, context), context), context)
      if (prompt === undefined) throw new TypeError('validation must have rejected an empty task')
      const found = findDefinition(agent, definitions)
      if ('problem' in found) return { ok: false, output: found.problem }
      const assignment = { title, prompt, definition: found.definition }
      const created = await create(named, () => Promise.resolve(agentWork(agents, assignment)), context)
      return { ...created, delegated: true }
    },
  })
}

function refusePatch(cmd: string): string | undefined {
  return patchInCommand(cmd) === undefined ? undefined : "task_create: a patch can't be a task. Use apply_patch."
}

function asRequest(
  { cmd, ...rest }: { readonly cmd: string } & Omit<CommandRequest, 'argv'>,
  { sandbox }: ToolContext,
): CommandRequest {
  return { ...rest, argv: [sandbox.shell, '-c', cmd] }
}

async function create(
  named: { readonly title: string; readonly description: string | undefined },
  start: () => Promise<TaskWork | ToolResult>,
  { state }: ToolContext,
): Promise<ToolResult> {
  const created = await state.tasks.create(named, start)
  if ('result' in created) return created.result
  const { id, work } = created.task
  return { ok: true, output: `${id} has started (${work.known}).` }
}
