import { sandboxStatusOf } from '../core/sandbox-status.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { Sink } from '../core/events.ts'
import type { OutsideEffect } from '../core/run-summary.ts'
import { nameOf } from '../hooks/describe-hook.ts'
import { runsOutside, type Hook, type HookSet } from '../hooks/load-hooks.ts'
import type { McpServer } from '../mcp/server.ts'
import { writeService, type NetworkDecision, type Sandbox } from '../../sandbox/index.ts'

/** The maximum number of effects of one kind that are listed. A longer list would not help readers. */
const mostNamed = 100

/** Records those effects of a transactional run that happen outside its private view and can't be reverted. */
export class OutsideEffects {
  readonly #seen = new Map<string, OutsideEffect>()

  /** Records an effect, unless the same effect, or `mostNamed` effects of its kind, have already been recorded. */
  note(kind: OutsideEffect['kind'], what: string): void {
    const ofKind = [...this.#seen.values()].filter((each) => each.kind === kind).length
    if (ofKind < mostNamed) this.#seen.set(`${kind} ${what}`, { kind, what })
  }

  /** Receives decisions about the network, and records the hosts that were allowed, and the services. */
  readonly onDecision = ({ via, ...decision }: NetworkDecision): void => {
    if (decision.verdict !== 'allowed') return
    if (via === 'service') this.note('service', decision.pattern)
    else this.note('host', `${decision.host}:${decision.port}`)
  }

  /** Creates a sink that records which hooks ran that the sandbox doesn't confine, and what the model's provider searched for on the web. */
  sink(hooks: HookSet): Sink {
    const outside = new Map(hooksOutside(hooks).map((hook) => [nameOf(hook), hook.origin]))
    return {
      event: (event) => {
        if (event.type !== 'item.completed') return
        const { item } = event
        if (item.type === 'web_search') this.note('web-search', item.query)
        const origin = item.type === 'hook' ? outside.get(item.handler) : undefined
        if (origin !== undefined) this.note('hook', origin)
      },
    }
  }

  get seen(): readonly OutsideEffect[] {
    return [...this.#seen.values()]
  }
}

/** The effects outside a run's transaction. */
export type Outside = {
  /** The effects that are possible with this configuration, except web searches. */
  readonly possible: readonly OutsideEffect[]
  /** Returns the effects that have happened so far. */
  readonly happened: () => readonly OutsideEffect[]
}

/** Collects the effects outside a run's transaction. */
export function outsideOf(
  sandbox: Sandbox,
  settings: Settings,
  extensions: { readonly servers: readonly McpServer[]; readonly hooks: HookSet },
  effects: OutsideEffects | undefined,
): Outside {
  const { mode } = sandbox.policy
  return {
    possible: possibleEffects(sandbox, settings, extensions),
    happened: () => [...(effects?.seen ?? []), ...lasting(sandbox, settings, mode, extensions.servers)],
  }
}

function possibleEffects(
  sandbox: Sandbox,
  settings: Settings,
  extensions: { readonly servers: readonly McpServer[]; readonly hooks: HookSet },
): readonly OutsideEffect[] {
  const { network, services, mode } = sandbox.policy
  const allowed =
    network.mode === 'allowlist' ? network.allow.map((entry) => (typeof entry === 'string' ? entry : entry.host)) : []
  return [
    ...allowed.slice(0, mostNamed).map((what) => ({ kind: 'host' as const, what })),
    ...services.map((service) => ({ kind: 'service' as const, what: writeService(service) })),
    ...lasting(sandbox, settings, mode, extensions.servers),
    ...hooksOutside(extensions.hooks)
      .slice(0, mostNamed)
      .map(({ origin }) => ({ kind: 'hook' as const, what: origin })),
  ]
}

/** Effects that can't be observed one by one, such as those of an MCP server. They count as having happened. */
function lasting(
  sandbox: Sandbox,
  { sandbox_caches: caches = [] }: Settings,
  mode: string,
  servers: readonly McpServer[],
): readonly OutsideEffect[] {
  const { dangers = [] } = sandboxStatusOf(sandbox)
  return [
    ...(sandbox.policy.network.mode === 'full' ? [{ kind: 'host' as const, what: 'any; not recorded' }] : []),
    ...servers
      .filter(({ transport }) => transport.type !== 'stdio' || !transport.sandboxed)
      .map(({ name }) => ({ kind: 'mcp-server' as const, what: name })),
    ...(mode === 'workspace-write' ? caches.map((what) => ({ kind: 'cache' as const, what })) : []),
    ...dangers.map((what) => ({ kind: 'docker-socket' as const, what })),
  ]
}

/** Hooks that the sandbox doesn't confine: hooks that run commands outside the sandbox, and hooks that send HTTP requests. */
function hooksOutside({ hooks }: HookSet): readonly Hook[] {
  return [...hooks.values()].flat().filter((hook) => runsOutside(hook) || hook.handler.type === 'http')
}
