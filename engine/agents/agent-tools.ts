import * as z from 'zod'
import { describeReport } from './describe-report.ts'
import { findDefinition } from './find-definition.ts'
import type { AgentReport, SubAgents } from './sub-agents.ts'
import type { AgentDefinition } from '../skills/definition.ts'
import { defineTool } from '../tools/define-tool.ts'
import { taskCreateFor } from './task-create.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'

/** The tools by which a model hands work to others: `agent`, `send_message`, `wait_agents`, and the `task_create` that can. */
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
      'Hands a piece of work to another agent, which knows nothing of this conversation: say in the prompt all that it needs. It works in ' +
      'the same workspace, within the same limits, and its report comes back. Several of one response work side by side; with background true one works beside you until wait_agents.' +
      (kinds.length === 0 ? '' : ` Agents that know one kind of work, by the parameter agent:${kinds.join('')}`),
    input: z.object({
      title: z.string().min(1).max(80).describe('What it is about, in a few words.'),
      prompt: z.string().min(1).describe('The whole task.'),
      agent: z.string().optional().describe('One of the agents named above. Default: one like you.'),
      background: z.boolean().optional().describe('Go on at once, and ask for the report later. Default: false.'),
    }),
    searchHint: 'subagent delegate parallel task',
    run: async ({ title, prompt, agent: kind, background }, { signal }) => {
      const found = findDefinition(kind, definitions)
      if ('problem' in found) return { ok: false, output: found.problem }
      const { definition } = found
      if (background === true) {
        const id = agents.start({ title, prompt, definition })
        return { ok: true, output: `${id} is at work. wait_agents gives its report.` }
      }
      return resultOf(await agents.wait(agents.start({ title, prompt, definition }, signal)))
    },
  })
}

function sendMessage(agents: SubAgents): Tool {
  return defineTool({
    name: 'send_message',
    guarded: true,
    description: 'Says more to an agent that has given its report; it still knows what it did. Its answer comes back.',
    input: z.object({
      to: z.string().min(1).describe('Its id, e.g. agent-1.'),
      message: z.string().min(1),
    }),
    run: async ({ to, message }, { signal }) => {
      const problem = agents.tell(to, message, signal)
      return problem === undefined ? resultOf(await agents.wait(to)) : { ok: false, output: problem }
    },
  })
}

function waitAgents(agents: SubAgents): Tool {
  return defineTool({
    name: 'wait_agents',
    guarded: true,
    description: 'Waits for agents that work in the background, and gives their reports.',
    input: z.object({ ids: z.array(z.string().min(1)).optional().describe('Default: all that are at work.') }),
    run: async ({ ids }) => {
      const asked = ids ?? agents.unread
      if (asked.length === 0) return { ok: true, output: 'No agent is at work.' }
      const reports = await Promise.all(asked.map((id) => agents.wait(id)))
      const texts = reports.map((report, at) =>
        report === undefined ? `${asked[at] ?? ''} is not at work.` : describeReport(report),
      )
      return { ok: reports.every((report) => report?.ok === true), output: texts.join('\n\n') }
    },
  })
}

function resultOf(report: AgentReport | undefined): ToolResult {
  if (report === undefined) throw new TypeError('an agent that was started has a report')
  return { ok: report.ok, output: describeReport(report) }
}
