import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { CommandAnalysis, Grant } from '../../policies/index.ts'
import { serviceInstead, type Denial, type Sandbox, type SandboxPolicy } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'

/** The access that a call explicitly requests: paths to read, paths to write, and hosts. */
export type AskedPermissions = {
  readonly read?: readonly string[] | undefined
  readonly write?: readonly string[] | undefined
  readonly network?: readonly string[] | undefined
}

/** The maximum number of grants. With more grants, access would no longer be narrowly scoped. */
const mostGrants = 10

/**
 * Returns the grants that would have let a command do what the sandbox denied. A command's output proves nothing, so a denial that is only suspected counts
 * only if the command's own text names the path or host. Denials that no grant could prevent are skipped.
 *
 * @param names tells whether the command's text names a path (absolute) or a host
 */
export function grantsForDenials(
  denials: readonly Denial[],
  policy: SandboxPolicy,
  names: (subject: string) => boolean,
): readonly Grant[] {
  const counted = denials.filter(({ certainty, subject }) => certainty === 'proven' || names(subject))
  return distinct(counted.flatMap((denial) => grantForDenial(denial, policy)))
}

/** Returns a function that tells whether a command's own words name a path or a host. Relative paths in the words are resolved against `cwd`. */
export function namedBy(analysis: CommandAnalysis | undefined, cwd: string): (subject: string) => boolean {
  const commands = analysis?.commands ?? []
  const words = commands.flatMap((command) => [...command.words, ...command.reads]).map(({ text }) => text)
  const facts = commands.flatMap((command) => [...command.facts, ...command.around])
  const written = facts.flatMap((fact) => (fact.class === 'writes' ? fact.paths : []))
  const hosts = facts.flatMap((fact) => (fact.class === 'network' ? fact.hosts : []))
  const named = new Set([
    ...[...words, ...written].filter((word) => !word.includes('\0')).map((word) => resolve(cwd, word)),
    ...hosts,
    ...words.map(hostOf).filter((host) => host !== undefined),
  ])
  return (subject) => named.has(subject)
}

/** Returns the host of a word that is a URL; undefined for any other word. */
function hostOf(word: string): string | undefined {
  return /^\w+:\/\//.test(word) && URL.canParse(word) ? new URL(word).hostname : undefined
}

function grantForDenial({ kind, subject, remedy }: Denial, policy: SandboxPolicy): readonly Grant[] {
  switch (remedy.kind) {
    case 'add-root':
      if (remedy.to === 'readableRoots') return readGrant(remedy.path, policy)
      // The denial's subject is used, because it is the path itself; the remedy's path is the folder that would have to be writable for it.
      return kind === 'path' ? writeGrant(subject, policy) : []
    case 'show-denied':
      return readGrant(remedy.path, policy)
    case 'allow-host':
      return hostGrant(
        typeof remedy.host === 'string' ? remedy.host : remedy.host.host,
        typeof remedy.host !== 'string' && remedy.host.allowPrivate === true,
        policy,
      )
    case 'use-credential':
      return hostGrant(`${remedy.host}:22`, false, policy)
    case 'raise-limit':
      // A call sets its own time limit, so no grant is needed.
      return remedy.limit === 'wallTimeMs' ? [] : [{ kind: 'limit', name: remedy.limit, value: 2 * remedy.value }]
    // Nothing that opens a way out of the sandbox is ever granted here.
    case 'show-docker-socket':
    case 'open-unix-sockets':
    case 'add-service':
    case 'unprotect':
    case 'use-mode':
    case 'otherwise':
      return []
    default:
      return remedy satisfies never
  }
}

/** Returns the grants that a call asks for explicitly. Paths are relative to `cwd`. */
export function grantsAskedFor(asked: AskedPermissions, cwd: string, policy: SandboxPolicy): readonly Grant[] {
  return distinct([
    ...(asked.read ?? []).flatMap((path) => readGrant(resolve(cwd, path), policy)),
    ...(asked.write ?? []).flatMap((path) => writeGrant(resolve(cwd, path), policy)),
    ...(asked.network ?? []).flatMap((host) => hostGrant(host, false, policy)),
  ])
}

/** Returns the grants that a command obviously needs: for the paths that it writes outside the writable folders, and for the hosts that it contacts. */
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

/** Returns a grant for writing to a path. For a file that doesn't exist yet, the grant covers only that name in its folder, which must exist. */
function writeGrant(path: string, policy: SandboxPolicy): readonly Grant[] {
  if (policy.mode !== 'workspace-write') return []
  const folder = realPath(dirname(path))
  const real = realPath(path) ?? (folder === undefined ? undefined : join(folder, basename(path)))
  return real === undefined ? [] : [{ kind: 'write', path: real }]
}

function hostGrant(text: string, isPrivate: boolean, { mode, network }: SandboxPolicy): readonly Grant[] {
  if (mode === 'danger-full-access' || network.mode === 'full') return []
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]/]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  // Commands have a loopback interface of their own, so a host on the one of this machine can't be granted.
  if (host === undefined || serviceInstead(text) !== undefined) return []
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
