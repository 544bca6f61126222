import type { Guardian } from '../../policies/index.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { Model } from '../core/model.ts'
import type { WebSearchRequestOptions } from '../run/approve-web-search.ts'
import { UserError } from '../core/user-error.ts'

/** The options with which requests let the provider search the web (empty if it may not), and notices for the user. */
type ChosenSearch = {
  readonly wish: { readonly webSearch?: WebSearchRequestOptions }
  readonly notices: readonly string[]
}

/**
 * Decides whether the provider searches the web for the model. Searches must not reach hosts that commands can't reach, so an allow-list for the network also
 * limits the domains of results.
 *
 * @param insisted whether the command line requires web search; the run then fails if it isn't available
 * @throws UserError `usage` if `insisted` is true, but the provider has no search, or the search is forbidden or needs approval that nobody can give
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
    const missing = `the provider of ${model.name} has no web search; OpenAI's Responses API and Anthropic's Messages API have one`
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
    throw new UserError(
      'usage',
      `--search: ${reason}${decision === 'ask' ? ' The permission WebSearch would allow it.' : ''}`,
    )
  return { wish: { webSearch: { request: { mode, ...held }, action } }, notices: [] }
}

/**
 * Converts hosts to the form that providers use: a name without a port. Such a name also stands for all its subdomains. IPv4 addresses and names
 * without a dot are left out.
 */
function domainsOf(hosts: readonly string[]): readonly string[] {
  const names = hosts.map((host) => host.replace(/:\d+$/, '').replace(/^\*\./, ''))
  return [...new Set(names.filter((name) => name.includes('.') && !/^[\d.]+$/.test(name)))].sort()
}
