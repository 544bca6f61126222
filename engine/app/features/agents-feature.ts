import { isInside } from '../../core/directories-between.ts'
import { silentHooks } from '../../tools/hook-interface.ts'
import { agentTools } from '../../agents/agent-tools.ts'
import type { Feature } from '../feature.ts'
import { openAgents } from '../open-agents.ts'
import { parentOf } from '../parent-run.ts'
import { parseDeferral } from '../../tools/search/deferral.ts'
import { toolSet } from '../../tools/tool-set.ts'
import { instructionsFor } from '../../run/model-instructions.ts'
import { toolFacts } from '../tool-facts.ts'

/** Provides sub-agents to which the run can delegate work. */
export const agentsFeature: Feature = {
  name: 'agents',
  open: (context) => {
    const { services, config, project, extensions } = context
    const fallbacks = context.settings.fallback_models ?? []
    const agents = openAgents({
      parent: parentOf(context),
      tools: context.sharedTools,
      hooksFor: (definition, id) => services.hooks?.hooksFor(definition, id) ?? silentHooks,
      model: context.model,
      wrapModel: context.aroundModel,
      openModel: context.openNamed,
      // Sub-agents can't delegate work, so their instructions don't mention it.
      rulesFor: (model) => instructionsFor([model, ...fallbacks], { handsOn: false }),
      shown: (tools, model) => toolSet(tools, toolFacts(context, [model, ...fallbacks])),
      deferral: parseDeferral(context.settings.tool_search) ?? { mode: 'off' },
      mayChooseModel: (path) => config.trusted || !isInside(path, project.root),
    })
    services.agents = agents
    context.closing.add(() => agents.close())
    return { ownTools: agentTools(agents, extensions.definitions.agents) }
  },
}
