import { expandServerPrompt, namesServerPrompt } from '../../mcp/prompts.ts'
import { tokensIn } from '../../mcp/tokens-in.ts'
import type { Feature } from '../feature.ts'
import { forbidsUrl } from '../forbidden-hosts.ts'
import { openServers } from '../open-servers.ts'

/** Provides the tools and prompts of servers that speak the Model Context Protocol. */
export const mcpFeature: Feature = {
  name: 'MCP servers',
  open: async (context) => {
    const { services, signal, extensions } = context
    const opened = await openServers(extensions.servers, {
      workspace: context.workspace,
      sandbox: context.sandbox,
      outside: context.outside,
      forbidsHost: (url) => forbidsUrl(context.forbids, url),
      tokens: tokensIn(context.places),
      deferred: context.settings.tool_search === 'always',
      tell: context.tell,
      environment: context.request.environment,
      signal,
    })
    context.closing.add(opened.close)
    if (opened.servers !== undefined) services.servers = opened.servers
    return {
      dynamicTools: opened.tools,
      context: opened.instructions(),
      options: { lateContext: opened.instructions },
      notices: [...extensions.faults, ...opened.notices],
      expandPrompt: async (prompt) =>
        namesServerPrompt(prompt) ? expandServerPrompt(prompt, opened.servers, signal) : prompt,
    }
  },
}
