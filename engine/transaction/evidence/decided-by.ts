import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import type { PermissionSet, RuleSet } from '../../../policies/index.ts'
import { writeService, type Sandbox } from '../../../sandbox/index.ts'
import { isInside } from '../../core/directories-between.ts'
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
  /** The user's home directory. */
  readonly home: string
}

/**
 * Records hashes of the policies on which the decisions in a run are based. They are recorded during the run, because evidence is made later, when the policies
 * may have changed.
 */
export function noteDecidedBy(directory: string, basis: Basis): void {
  const { approvalPolicy, sandbox, image, rules, permissions, home } = basis
  const sources = new Map<string, object[]>()
  for (const rule of [...rules.prefixRules, ...rules.networkRules, ...rules.hostExecutables]) {
    const { origin, ...said } = rule
    const known = sources.get(origin.path)
    if (known === undefined) sources.set(origin.path, [said])
    else known.push(said)
  }
  const { policy, backend, fence } = sandbox
  // Variables are left out: their values may be secrets, and if only a few values are possible, even a hash would reveal the value. The view has other paths in each run.
  const { environment: _, views: __, ...confined } = policy
  const same = (value: unknown): unknown => withoutPlaces(value, { workspace: policy.workspace, home, own: directory })
  const { commands, paths, hosts, tools } = permissions
  const decided = {
    approval_policy: approvalPolicy,
    sandbox: {
      mode: policy.mode,
      backend,
      network: policy.network.mode,
      ...(policy.services.length === 0 ? {} : { services: policy.services.map(writeService) }),
      ...(policy.credentials.length === 0
        ? {}
        : { credentials: policy.credentials.map(({ name, hosts, allow }) => ({ name, hosts, allow })) }),
      ...(isHomeOpen(sandbox) ? { home: 'open' as const } : {}),
      ...(image === undefined ? {} : { image }),
      policy_sha256: hashOf(same(confined)),
    },
    rules: [...sources].map(([source, list]) => ({ source, rules: list.length, sha256: hashOf(same(list)) })),
    permissions_sha256: hashOf(same({ commands, paths, hosts, tools })),
  }
  const noted: DecidedBy = {
    at: new Date().toISOString(),
    ...decided,
    sandbox: { ...decided.sandbox, ...(fence === undefined ? {} : { fence }) },
    policy_sha256: hashOf(same(decided)),
  }
  appendFileSync(fileOf(directory), `${JSON.stringify(noted)}\n`, { mode: 0o600 })
}

/** Whether commands see the whole machine except the denied places. Where nothing is confined, the mode says so. */
function isHomeOpen({ policy, backend }: Basis['sandbox']): boolean {
  return backend === 'seatbelt' || (backend === 'bubblewrap' && policy.home === 'open')
}

/** Reads the recorded hashes of the policies behind the decisions in a session's runs, oldest run first. */
export function readDecidedBy(directory: string): readonly DecidedBy[] {
  if (!existsSync(fileOf(directory))) return []
  const lines = readFileSync(fileOf(directory), 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => decidedBy.parse(JSON.parse(line)))
}

/** The directories of one run or one machine. `own`: the directory of the session. */
type Places = { readonly workspace: string; readonly home: string; readonly own: string }

/**
 * Returns a value in which paths are the same for all runs under the same policy: relative to the workspace or the home directory, without the sessions' folder and
 * the directory of the running Node, which no policy names.
 */
function withoutPlaces(value: unknown, places: Places): unknown {
  const { workspace, home, own } = places
  if (typeof value === 'string') {
    if (isInside(value, workspace)) return `.${value.slice(workspace.length)}`
    return isInside(value, home) ? `~${value.slice(home.length)}` : value
  }
  if (Array.isArray(value)) {
    const isOfRun = (each: unknown): boolean =>
      typeof each === 'string' && (each === dirname(process.execPath) || isInside(each, dirname(own)))
    return value.filter((each) => !isOfRun(each)).map((each) => withoutPlaces(each, places))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutPlaces(each, places)]))
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
