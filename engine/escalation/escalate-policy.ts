import { statSync } from 'node:fs'
import type { Grant } from '../../policies/index.ts'
import type { SandboxPolicy } from '../../sandbox/index.ts'

/** Adds exactly the given grants (paths, hosts or limits) to a policy. Everything else is unchanged. */
export function escalatePolicy(policy: SandboxPolicy, grants: readonly Grant[]): SandboxPolicy {
  return grants.reduce(escalate, policy)
}

function escalate(policy: SandboxPolicy, grant: Grant): SandboxPolicy {
  switch (grant.kind) {
    case 'read':
      return { ...policy, readableRoots: [...policy.readableRoots, grant.path] }
    case 'write':
      return isDirectory(grant.path)
        ? { ...policy, writableRoots: [...policy.writableRoots, grant.path] }
        : { ...policy, writableFiles: [...policy.writableFiles, grant.path] }
    case 'network': {
      if (policy.network.mode === 'full') return policy
      const allow = policy.network.mode === 'allowlist' ? policy.network.allow : []
      const name = grant.host.includes(':') ? `[${grant.host}]` : grant.host
      const host = grant.port === undefined ? name : `${name}:${grant.port}`
      const entry = grant.private === true ? { host, allowPrivate: true } : host
      return { ...policy, network: { mode: 'allowlist', allow: [...allow, entry] } }
    }
    case 'limit':
      return { ...policy, limits: { ...policy.limits, [grant.name]: grant.value } }
    default:
      return grant satisfies never
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
