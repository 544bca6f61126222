import type { Action } from './action.ts'
import type { Policy } from './assessment.ts'
import { strictest, type Opinion } from './opinion.ts'
import { permitSearch } from './permissions/permit.ts'
import { describePermission } from './permissions/permission.ts'

/**
 * Judges whether a provider may search the web for its model. The search bypasses the sandbox's proxies. Unless a permission for searching decides,
 * approval is required if the search could reach a forbidden host. If the user hasn't explicitly requested the search, approval is also required if
 * commands can't reach the same hosts, or in `untrusted` mode. In `bypass` mode, only such a permission can require approval.
 */
export function assessSearch(action: Extract<Action, { type: 'search' }>, policy: Policy): Opinion {
  const permitted = strictest(permitSearch(policy.permissions))
  if (permitted !== undefined) return permitted
  const unasked = policy.mode === 'bypass'
  const forbidden = forbiddenHosts(policy).find(({ host }) => isSearched(host, action.domains))
  if (forbidden !== undefined) {
    const reason = `${forbidden.host} is forbidden, and a search by ${action.model} can't be prevented from reaching it.`
    return { decision: unasked ? 'allow' : 'ask', stage: 'rules', reason, rule: forbidden.rule }
  }
  if (action.insisted === true) return { decision: 'allow', stage: 'mode', reason: 'The user requested it.' }
  if (unasked || (action.fits && policy.mode !== 'untrusted'))
    return { decision: 'allow', stage: 'mode', reason: 'Commands can reach the same hosts as this search.' }
  const reason = `A web search by ${action.model} can reach more of the network than commands can.`
  return { decision: 'ask', stage: 'mode', reason }
}

function forbiddenHosts({ rules, permissions }: Policy): readonly { readonly host: string; readonly rule: string }[] {
  const byRules = rules.networkRules
    .filter(({ decision }) => decision === 'deny')
    .map(({ host, origin }) => ({ host, rule: `${origin.path}:${origin.line} network_rule ${host}` }))
  const byPermissions = permissions.hosts
    .filter(({ decision }) => decision === 'forbidden')
    .map((permission) => ({ host: permission.host ?? '*', rule: describePermission(permission) }))
  return [...byRules, ...byPermissions]
}

/** Whether search results may come from a host (which may begin with `*.`) or from any of its subdomains. True for the host `*`. */
function isSearched(host: string, domains: readonly string[] | undefined): boolean {
  if (domains === undefined || host === '*') return true
  const name = host.replace(/^\*\./, '')
  return domains.some((domain) => name === domain || name.endsWith(`.${domain}`) || domain.endsWith(`.${name}`))
}
