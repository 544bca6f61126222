import type { Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { Model } from '../core/model.ts'
import type { WebSearchRequestOptions } from '../run/approve-web-search.ts'
import { UserError } from '../core/user-error.ts'

/** Whether the provider searches the web, as configured, and what the user must know about that. */
type ChosenSearch = {
  readonly wish: { readonly webSearch?: WebSearchRequestOptions }
  readonly notices: readonly string[]
}

/**
 * Decides whether the model's provider searches the web for it. Search reaches as far as commands reach the network, so an allow-list also
 * limits the domains of results.
 *
 * @param insisted the command line asks for search, so a run without it makes no sense; this is enough to switch it on
 * @throws UserError `usage` where the user insisted and the provider has no search, or rules and permissions forbid it
 */
export function chooseWebSearch(
  { web_search: mode = 'disabled' }: Settings,
  insisted: boolean,
  model: Model,
  { policy }: Sandbox,
  { assess, canAsk }: Pick<Guardian, 'assess' | 'canAsk'>,
): ChosenSearch {
  if (mode === 'disabled') return { wish: {}, notices: [] }
  if (model.searchesWeb !== true) {
    const missing = `the provider of ${model.name} has no web search; those of OpenAI's Responses and Anthropic's Messages have`
    if (insisted) throw new UserError('usage', `--search: ${missing}.`)
    return { wish: {}, notices: [`web_search is '${mode}', but ${missing}.`] }
  }
  const open = policy.mode === 'danger-full-access' || policy.network.mode === 'full'
  const domains =
    !open && policy.network.mode === 'allowlist'
      ? domainsOf(policy.network.allow.map((entry) => (typeof entry === 'string' ? entry : entry.host)))
      : []
  const held = domains.length === 0 ? {} : { domains }
  const action = { type: 'search' as const, model: model.name, fits: open || domains.length > 0, insisted, ...held }
  const { decision, reason } = assess(action)
  if (insisted && (decision === 'deny' || (decision === 'ask' && !canAsk)))
    throw new UserError('usage', `--search: ${reason} The permission WebSearch would allow it.`)
  return { wish: { webSearch: { request: { mode, ...held }, action } }, notices: [] }
}

/** Hosts in the form of providers: by name, without a port, each including all hosts below it. */
function domainsOf(hosts: readonly string[]): readonly string[] {
  const names = hosts.map((host) => host.replace(/:\d+$/, '').replace(/^\*\./, ''))
  return [...new Set(names.filter((name) => name.includes('.') && !/^[\d.]+$/.test(name)))].sort()
}
