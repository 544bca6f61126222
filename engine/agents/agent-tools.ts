import * as z from 'zod'
import { describeReport, type AgentReport } from './describe-report.ts'
import { findDefinition } from './find-definition.ts'
import type { SubAgents } from './sub-agents.ts'
import type { AgentDefinition } from '../skills/definition.ts'
import { defineTool } from '../tools/define-tool.ts'
import { taskCreateFor } from './task-create.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'

/**
 * The tools with which a model delegates work to other agents: `agent`, `send_message`, `wait_agents`, and a `task_create` that can also start agents.
 */
export function agentTools(agents: SubAgents, definitions: readonly AgentDefinition[]): readonly Tool[] {
  return [agentTool(agents, definitions), sendMessage(agents), waitAgents(agents), taskCreateFor(agents, definitions)]
}

function agentTool(agents: SubAgents, definitions: readonly AgentDefinition[]): Tool {
  const kinds = definitions.map(({ name, description }) => `\n- ${name}: ${description.replaceAll(/\s+/g, ' ').trim()}`)
  return defineTool({
    name: 'agent',
    sideBySide: true,
    claudeNames: ['Agent'],
    guarded: true,
    description:
      'Hands a piece of work to another agent, which knows nothing about this conversation: put everything it needs into the prompt. It works in ' +
      'the same workspace, within the same limits, and you get its report. Agents called in one response work in parallel; with background true, an agent works beside you until you call wait_agents.' +
      (kinds.length === 0 ? '' : ` Specialized agents (pass one of these names as "agent"):${kinds.join('')}`),
    input: z.object({
      title: z.string().min(1).max(80).describe('What the work is about, in a few words.'),
      prompt: z.string().min(1).describe('The whole task.'),
      agent: z.string().optional().describe('One of the agents named above. Default: an agent like you.'),
      background: z.boolean().optional().describe('Continue at once and ask for the report later. Default: false.'),
    }),
    searchHint: 'subagent delegate parallel task',
    run: async ({ title, prompt, agent: kind, background }, { signal }) => {
      const found = findDefinition(kind, definitions)
      if ('problem' in found) return { ok: false, output: found.problem }
      const { definition } = found
      if (background === true) {
        const id = agents.start({ title, prompt, definition })
        return { ok: true, output: `${id} is working. Call wait_agents for its report.`, delegated: true }
      }
      return resultOf(await agents.wait(agents.start({ title, prompt, definition }, signal)))
    },
  })
}

function sendMessage(agents: SubAgents): Tool {
  return defineTool({
    name: 'send_message',
    guarded: true,
    description:
      'Sends another message to an agent that has delivered its report. It remembers what it did. You get its answer.',
    input: z.object({
      to: z.string().min(1).describe("The agent's id, e.g. agent-1."),
      message: z.string().min(1),
    }),
    run: async ({ to, message }, { signal }) => {
      const problem = agents.tell(to, message, signal)
      return problem === undefined ? resultOf(await agents.wait(to)) : { ok: false, output: problem, delegated: true }
    },
  })
}

function waitAgents(agents: SubAgents): Tool {
  return defineTool({
    name: 'wait_agents',
    guarded: true,
    description: 'Waits for agents that work in the background and returns their reports.',
    input: z.object({
      ids: z
        .array(z.string().min(1))
        .optional()
        .describe("Default: all agents whose reports you haven't received yet."),
    }),
    run: async ({ ids }) => {
      const asked = ids ?? agents.unread
      if (asked.length === 0) return { ok: true, output: 'No agent is working.', delegated: true }
      const reports = await Promise.all(asked.map((id) => agents.wait(id)))
      const texts = reports.map((report, at) =>
        report === undefined ? `${asked[at] ?? ''} has no work in progress.` : describeReport(report),
      )
      const ok = reports.every((report) => report?.ok === true)
      return { ok, output: texts.join('\n\n'), delegated: true }
    },
  })
}

function resultOf(report: AgentReport | undefined): ToolResult {
  if (report === undefined) throw new TypeError('an agent that was started must have a report')
  return { ok: report.ok, output: describeReport(report), delegated: true }
}
