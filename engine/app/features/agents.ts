import { isInside } from '../../core/paths.ts'
import { silentHooks } from '../../tools/hooks.ts'
import { agentTools } from '../../agents/agent-tools.ts'
import type { Feature } from '../feature.ts'
import { openAgents } from '../open-agents.ts'
import { parentOf } from '../parent.ts'

/** Others whom the run hands work to. */
export const agentsFeature: Feature = {
  name: 'agents',
  open: (context) => {
    const { services, config, project, extensions } = context
    const agents = openAgents({
      parent: parentOf(context),
      tools: context.sharedTools,
      hooksFor: (definition, id) => services.hooks?.hooksFor(definition, id) ?? silentHooks,
      model: context.model,
      around: context.aroundModel,
      openModel: context.openNamed,
      mayChoose: (path) => config.trusted || !isInside(path, project.root),
    })
    services.agents = agents
    return { ownTools: agentTools(agents, extensions.definitions.agents), close: () => agents.close() }
  },
}
