import { SandboxError } from '../sandbox-error.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { parseHost } from './host.ts'
import { addressesOf, type Resolve } from './proxy-gate.ts'
import { writeService } from './service.ts'

/** Looks up the addresses of the policy's services that have none yet. Throws `invalid-policy` if a host can't be found. */
export async function resolveServices(policy: SandboxPolicy, resolve: Resolve): Promise<SandboxPolicy> {
  if (policy.services.every(({ addresses }) => addresses !== undefined)) return policy
  const known = new Map<string, string[]>()
  const services: SandboxPolicy['services'] = []
  for (const service of policy.services) {
    const { host } = parseHost(service.host)
    const found = service.addresses ?? known.get(service.host) ?? (host && (await addressesOf(host, resolve))) ?? []
    if (typeof found === 'string') {
      const expected = `${writeService(service)}: must name a host that this machine knows (${found})`
      throw new SandboxError('invalid-policy', { problems: [{ key: 'services', expected }] })
    }
    known.set(service.host, [...found])
    services.push({ ...service, addresses: [...found] })
  }
  return { ...policy, services }
}
