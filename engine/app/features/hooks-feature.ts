import { createInspector } from '../../agents/inspector.ts'
import { CommandVariables } from '../../hooks/command-variables.ts'
import { withPermissionHooks } from '../../hooks/permission-hooks.ts'
import { hooksOfAgent, openHooks } from '../../hooks/run-hooks.ts'
import { testHooks } from '../../hooks/self-test.ts'
import { noHooks, silentHooks, type CallHooks } from '../../tools/hook-interface.ts'
import { restrictedCalls } from '../../skills/restricted-calls.ts'
import { configFiles } from '../config-files.ts'
import type { Contribution, Feature, Opened } from '../feature.ts'
import { forbidsUrl } from '../forbidden-hosts.ts'
import { hookDependencies } from '../hook-dependencies.ts'
import { parentOf } from '../parent-run.ts'

/** Runs the hooks of users and repositories, for example before and after calls. Hooks can restrict which calls the run may make. */
export const hooksFeature: Feature = { name: 'hooks', open: openFeature }

async function openFeature(context: Opened): Promise<Contribution> {
  const { sandbox, services, extensions, began } = context
  const forbidsHost = (url: URL): string | undefined => forbidsUrl(context.forbids, url)
  const variables = new CommandVariables(sandbox.policy.environment)
  const inspect = createInspector({ parent: parentOf(context), calls: () => hooks?.inspectorCalls ?? noHooks })
  const openModel = async (name: string | undefined) => (name === undefined ? context.model : context.openNamed(name))
  const { dependencies, close } = hookDependencies({
    ...context,
    environment: context.request.environment,
    image: context.settings.sandbox_image,
    servers: services.servers,
    forbidsHost,
    openModel,
    inspect,
    variables,
  })
  context.closing.add(close)
  const set = extensions.hooks
  const source = context.beginning.resumedFrom === undefined ? 'startup' : 'resume'
  const watched = configFiles({ ...context, definitions: extensions.definitions })
  const hooks =
    set.hooks.size === 0 ? undefined : openHooks(set, source, dependencies, { openModel, configFiles: watched })
  context.closing.add(hooks?.close)
  const missingServer = (name: string): string | undefined => {
    const state = services.servers?.states().find(({ server }) => server.name === name)
    return state === undefined ? `there is no MCP server ${name}` : state.problem
  }
  const faults =
    hooks === undefined ? [] : await testHooks(set, { ...dependencies, home: context.home, forbidsHost, missingServer })
  const listening = hooks?.run ?? silentHooks
  const cwd = (): string => began.workspace
  const { calls, narrow } = restrictedCalls(listening.calls, cwd)
  services.hooks = {
    narrow,
    hooksFor: (definition, id) => {
      const own = restrictedCalls(calls, cwd)
      if (definition?.allowedTools !== undefined) own.narrow(definition.allowedTools, `The agent ${definition.name}`)
      const agent = { id, type: definition?.name ?? 'general' }
      const asked: CallHooks = {
        before: (call) => own.calls.before({ ...call, agent }),
        after: (call, result, took) => own.calls.after({ ...call, agent }, result, took),
      }
      return hooks === undefined
        ? { ...silentHooks, stopped: listening.stopped, calls: asked }
        : { ...hooksOfAgent(hooks.hooks, listening, agent), calls: asked }
    },
  }
  return {
    hooks: { ...listening, calls },
    notices: [...set.notices, ...faults],
    options: { variables: () => variables.values },
    ...(hooks === undefined
      ? {}
      : { wrapModel: hooks.wrapModel, wrapReviewer: (reviewer) => withPermissionHooks(reviewer, hooks.hooks) }),
  }
}
