import { existsSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { CommandAnalysis, Grant } from '../../policies/index.ts'
import type { Denial, Sandbox, SandboxPolicy } from '../../sandbox/index.ts'
import { isInside } from '../paths.ts'

/** What a call asks for by name. */
export type AskedPermissions = {
  readonly read?: readonly string[] | undefined
  readonly write?: readonly string[] | undefined
  readonly network?: readonly string[] | undefined
}

/** More would be no scoped grant any more. */
const mostGrants = 10

/**
 * The grants that would have let a command do what the sandbox refused. Only what was proven counts: a suspicion, and what no
 * grant would help, gives none.
 */
export function grantsForDenials(denials: readonly Denial[], policy: SandboxPolicy): readonly Grant[] {
  const proven = denials.filter(({ certainty }) => certainty === 'proven')
  return distinct(proven.flatMap((denial) => grantForDenial(denial, policy)))
}

function grantForDenial({ kind, subject, remedy }: Denial, policy: SandboxPolicy): readonly Grant[] {
  switch (remedy.kind) {
    case 'add-root':
      if (remedy.to === 'readableRoots') return readGrant(remedy.path, policy)
      // Its subject is the path itself, the remedy's the folder that would have to be writable for it.
      return kind === 'path' ? writeGrant(subject, policy) : []
    case 'show-denied':
      return readGrant(remedy.path, policy)
    case 'allow-host':
      return hostGrant(
        typeof remedy.host === 'string' ? remedy.host : remedy.host.host,
        typeof remedy.host !== 'string' && remedy.host.allowPrivate === true,
        policy,
      )
    case 'raise-limit':
      // How long a call may take is the call's own business.
      return remedy.limit === 'wallTimeMs' ? [] : [{ kind: 'limit', name: remedy.limit, value: 2 * remedy.value }]
    // A way out of the sandbox is never granted on the way.
    case 'show-docker-socket':
    case 'unprotect':
    case 'use-mode':
    case 'otherwise':
      return []
    default:
      return remedy satisfies never
  }
}

/** The grants that a call asks for by name; paths are relative to `cwd`. */
export function grantsAskedFor(asked: AskedPermissions, cwd: string, policy: SandboxPolicy): readonly Grant[] {
  return distinct([
    ...(asked.read ?? []).flatMap((path) => readGrant(resolve(cwd, path), policy)),
    ...(asked.write ?? []).flatMap((path) => writeGrant(resolve(cwd, path), policy)),
    ...(asked.network ?? []).flatMap((host) => hostGrant(host, false, policy)),
  ])
}

/** The grants that a command shows by itself to need: files it names outside the places it may write, and hosts. */
export function grantsSeenIn(analysis: CommandAnalysis | undefined, cwd: string, sandbox: Sandbox): readonly Grant[] {
  const { policy } = sandbox
  const facts = (analysis?.commands ?? []).flatMap(({ facts: own, around }) => [...own, ...around])
  const roots = [policy.workspace, ...policy.writableRoots]
  const grants = facts.flatMap((fact): readonly Grant[] => {
    if (fact.class === 'writes') {
      const paths = fact.paths.map((path) => resolve(cwd, path))
      const outside = paths.filter((path) => path !== '/dev/null' && !roots.some((root) => isInside(path, root)))
      return outside.flatMap((path) => writeGrant(path, policy))
    }
    if (fact.class === 'network') return fact.hosts.flatMap((host) => hostGrant(host, false, policy))
    return []
  })
  return distinct(grants)
}

function readGrant(path: string, { mode }: SandboxPolicy): readonly Grant[] {
  if (mode === 'danger-full-access') return []
  const real = realPath(path)
  return real === undefined ? [] : [{ kind: 'read', path: real }]
}

/** What isn't there yet is made in its folder, so that is what has to be writable. */
function writeGrant(path: string, policy: SandboxPolicy): readonly Grant[] {
  if (policy.mode !== 'workspace-write') return []
  const real = realPath(path) ?? realPath(dirname(path))
  return real === undefined ? [] : [{ kind: 'write', path: real }]
}

function hostGrant(text: string, isPrivate: boolean, { mode, network }: SandboxPolicy): readonly Grant[] {
  if (mode === 'danger-full-access' || network.mode === 'full') return []
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]/]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined) return []
  return [
    {
      kind: 'network',
      host,
      ...(port === undefined ? {} : { port: Number(port) }),
      ...(isPrivate ? { private: true as const } : {}),
    },
  ]
}

function realPath(path: string): string | undefined {
  return existsSync(path) ? realpathSync(path) : undefined
}

function distinct(grants: readonly Grant[]): readonly Grant[] {
  return [...new Map(grants.map((grant) => [JSON.stringify(grant), grant])).values()].slice(0, mostGrants)
}
