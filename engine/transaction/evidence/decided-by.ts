import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PermissionSet, RuleSet } from '../../../policies/index.ts'
import { writeService, type Sandbox } from '../../../sandbox/index.ts'
import { decidedBy, type DecidedBy } from './statement.ts'

const fileOf = (directory: string): string => join(directory, 'decided-by.jsonl')

/** The policies on which the decisions in a run are based. */
type Basis = {
  readonly approvalPolicy: string
  readonly sandbox: Pick<Sandbox, 'policy' | 'backend' | 'fence'>
  /** The container image, for a backend that uses one. */
  readonly image: string | undefined
  readonly rules: Pick<RuleSet, 'prefixRules' | 'networkRules' | 'hostExecutables'>
  readonly permissions: PermissionSet
}

/**
 * Records hashes of the policies on which the decisions in a run are based. They are recorded during the run, because evidence is made later, when the policies
 * may have changed.
 */
export function noteDecidedBy(directory: string, { approvalPolicy, sandbox, image, rules, permissions }: Basis): void {
  const sources = new Map<string, object[]>()
  for (const rule of [...rules.prefixRules, ...rules.networkRules, ...rules.hostExecutables]) {
    const { origin, ...said } = rule
    const known = sources.get(origin.path)
    if (known === undefined) sources.set(origin.path, [said])
    else known.push(said)
  }
  const { policy, backend, fence } = sandbox
  // Variables are left out: their values may be secrets, and if only a few values are possible, even a hash would reveal the value.
  const { environment: _, ...confined } = policy
  const { commands, paths, hosts, tools } = permissions
  const noted: DecidedBy = {
    at: new Date().toISOString(),
    approval_policy: approvalPolicy,
    sandbox: {
      mode: policy.mode,
      backend,
      network: policy.network.mode,
      ...(policy.services.length === 0 ? {} : { services: policy.services.map(writeService) }),
      ...(image === undefined ? {} : { image }),
      ...(fence === undefined ? {} : { fence }),
      policy_sha256: hashOf(confined),
    },
    rules: [...sources].map(([source, list]) => ({ source, rules: list.length, sha256: hashOf(list) })),
    permissions_sha256: hashOf({ commands, paths, hosts, tools }),
  }
  appendFileSync(fileOf(directory), `${JSON.stringify(noted)}\n`, { mode: 0o600 })
}

/** Reads the recorded hashes of the policies behind the decisions in a session's runs, oldest run first. */
export function readDecidedBy(directory: string): readonly DecidedBy[] {
  if (!existsSync(fileOf(directory))) return []
  const lines = readFileSync(fileOf(directory), 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => decidedBy.parse(JSON.parse(line)))
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
