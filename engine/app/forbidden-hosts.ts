import type { PermissionSet, RuleSet } from '../../policies/index.ts'
import { assessor } from '../core/assessor.ts'

/** Why a host must not be reached, or undefined where nothing forbids it. `protocol` is `http` or `https`. */
export type ForbidsHost = (host: string, port: number, protocol: string) => string | undefined

/**
 * Why rules and permissions forbid hosts that somebody allowed: those of a network allow-list, of hooks and of MCP servers. A denial wins, whoever
 * allowed the host.
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

/** The same for the URL of a hook or a server. */
export function forbidsUrl(forbids: ForbidsHost, { hostname, port, protocol }: URL): string | undefined {
  const scheme = protocol === 'http:' || protocol === 'ws:' ? 'http' : 'https'
  return forbids(hostname, port === '' ? (scheme === 'http' ? 80 : 443) : Number(port), scheme)
}
