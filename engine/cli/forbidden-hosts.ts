import { createGuardian, nobody, withoutAuditLog, type RuleSet } from '../../policies/index.ts'

/** Why a host must not be reached by anything of ours, or undefined where no rule says so. */
export type ForbidsHost = (url: URL) => string | undefined

/** What the rules forbid to connections that we make ourselves, for hooks and MCP servers: what the user configured, but for a rule. */
export function forbiddenHosts(rules: RuleSet): ForbidsHost {
  const guardian = createGuardian({ approvalMode: 'bypass', rules, reviewer: nobody, audit: withoutAuditLog() })
  return ({ hostname, port, protocol }) => {
    const scheme = protocol === 'http:' || protocol === 'ws:' ? 'http' : 'https'
    const usual = scheme === 'http' ? 80 : 443
    const action = {
      type: 'network' as const,
      host: hostname,
      port: port === '' ? usual : Number(port),
      protocol: scheme,
    }
    const { decision, reason } = guardian.assess(action)
    return decision === 'deny' ? reason : undefined
  }
}
