import type { PermissionSet, RuleSet } from '../../policies/index.ts'
import { assessor } from '../core/assessor.ts'

/** Returns why a host must not be reached, or undefined if nothing forbids it. `protocol` is `http` or `https`. */
export type ForbidsHost = (host: string, port: number, protocol: string) => string | undefined

/**
 * Returns a function that tells why rules or permissions forbid a host. It is used for the hosts on a network allow-list, and for those that hooks and MCP
 * servers use: a denial takes precedence over the list.
 */
export function forbiddenHosts(policies: {
  readonly rules: RuleSet
  readonly permissions: PermissionSet
}): ForbidsHost {
  const assess = assessor({ approvalMode: 'bypass', ...policies })
  return (host, port, protocol) => {
    const { decision, reason } = assess({ type: 'network', host, port, protocol })
    return decision === 'deny' ? reason : undefined
  }
}

/** Returns why the URL of a hook or a server must not be reached, or undefined if nothing forbids it. */
export function forbidsUrl(forbids: ForbidsHost, { hostname, port, protocol }: URL): string | undefined {
  const scheme = protocol === 'http:' || protocol === 'ws:' ? 'http' : 'https'
  return forbids(hostname, port === '' ? (scheme === 'http' ? 80 : 443) : Number(port), scheme)
}
