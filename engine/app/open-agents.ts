import { SubAgents, type Parent } from '../agents/sub-agents.ts'
import type { Model } from '../core/model.ts'
import { newestOf } from '../models/index.ts'
import type { RunHooks } from '../tools/hook-interface.ts'
import type { AgentDefinition } from '../skills/definition.ts'
import { mayOffer } from '../skills/tool-allowlist.ts'
import { createRegistry } from '../tools/registry.ts'
import type { Deferral } from '../tools/search/deferral.ts'
import { someTools, type DynamicTools } from '../tools/dynamic-tools.ts'
import type { Tool } from '../tools/tool.ts'
import { UserError } from '../core/user-error.ts'

type AgentsOptions = {
  readonly parent: Parent
  /** Returns the tools of sub-agents. None of these tools can start further sub-agents. */
  readonly tools: () => { readonly builtIn: readonly Tool[]; readonly mcp: DynamicTools }
  readonly hooksFor: (definition: AgentDefinition | undefined, id: string) => RunHooks
  /** The run's model. */
  readonly model: Model
  /** Wraps a model with the hooks around its requests. */
  readonly wrapModel: (model: Model) => Model
  readonly openModel: (name: string) => Promise<Model>
  /** Returns the instructions for every sub-agent whose model has this name. */
  readonly rulesFor: (model: string) => string
  /** Returns the tools as the model of this name sees them, including the tools that the model has to search for. */
  readonly shown: (tools: readonly Tool[], model: string) => readonly Tool[]
  readonly deferral: Deferral
  /** Whether a definition in this file may name a model. In an untrusted repository it may not, because the user pays for the model. */
  readonly mayChooseModel: (path: string) => boolean
}

/** Creates the sub-agents to which a run can delegate work. */
export function openAgents(options: AgentsOptions): SubAgents {
  const { parent, tools, hooksFor, model, wrapModel, openModel, mayChooseModel } = options
  return new SubAgents({
    parent,
    equip: (definition, id, { name: modelName }) => {
      const { allowedTools } = definition ?? {}
      const offered = (tool: Tool): boolean => allowedTools === undefined || mayOffer(tool, allowedTools)
      const { builtIn, mcp } = tools()
      const registry = createRegistry({
        builtIn: options.shown(builtIn.filter(offered), modelName),
        mcp: someTools(mcp, offered),
        // If a definition lists tools, the agent gets all of them from the start, without having to search for them.
        deferral: allowedTools === undefined ? options.deferral : { mode: 'off' },
      })
      return { tools: registry, hooks: hooksFor(definition, id) }
    },
    rulesFor: options.rulesFor,
    modelFor: async (definition) => {
      const { model: named = 'inherit', path } = definition ?? {}
      if (named === 'inherit' || path === undefined || !mayChooseModel(path)) return wrapModel(model)
      try {
        return wrapModel(await openModel(newestOf(named) ?? named))
      } catch (error) {
        // Definitions are written for other programs too, so a definition may name a model that this program can't open. In that case, the run's own
        // model is used.
        if (error instanceof UserError) return wrapModel(model)
        throw error
      }
    },
  })
}
