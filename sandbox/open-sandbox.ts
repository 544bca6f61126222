import { checkCommand } from './check-command.ts'
import { SandboxError } from './sandbox-error.ts'
import { hostFileSystem } from './file-system-view.ts'
import { isThere, type Place } from './held-place.ts'
import type { KnownPlaces } from './known-places.ts'
import { endLeftovers } from './end-leftovers.ts'
import { refuseKernelPlaces } from './kernel-places.ts'
import { loadOwnCode } from './installation/load-own-code.ts'
import { resolveAsSystem } from './network/proxy-gate.ts'
import type { NetworkOptions } from './network/proxy.ts'
import { resolveServices } from './network/resolve-services.ts'
import { isWithin } from './paths.ts'
import type { SandboxPolicy } from './sandbox-policy.ts'
import { requireDirectory } from './locate-program.ts'
import { filesApart, writableRoots } from './roots.ts'
import { backendNames, confiningBackend, factsOf, type Backend } from './backend.ts'
import { loadBackend } from './load-backend.ts'
import { runnable, type OpenedSandbox } from './run-command.ts'
import type { Command, Sandbox, SandboxProcess } from './sandbox.ts'
import { policyAtSources } from './views/view-mounts.ts'
import { placesAtSources, withViews } from './views/sandbox-with-views.ts'

/** Options that select and set up a sandbox. */
export type SandboxOptions = {
  /** The backend. Default: the platform's default backend, or no confinement for danger-full-access. */
  readonly backend?: Backend | undefined
  /** The image of the docker backend. It must contain /bin/sh and the tools that commands need. */
  readonly image?: string | undefined
  /** Callbacks for the proxy that enforces a network allow-list. Default: none. */
  readonly network?: NetworkOptions | undefined
  /** The entries that were at the policy's paths when the paths were given or approved. Default: the entries that are there now, with links followed. */
  readonly known?: KnownPlaces | undefined
}

/**
 * Resolves the policy's paths to the entries that were at these paths when they were given or approved. Returns the resolved policy, and the entries
 * that must be at its paths. Throws `path-changed` if one of them is no longer there.
 */
function settle(
  policy: SandboxPolicy,
  known: KnownPlaces,
  backend: Backend,
): readonly [SandboxPolicy, readonly Place[]] {
  const wanted = new Map<string, Place>()
  const given = policy.mode === 'workspace-write' ? [policy.workspace, ...policy.writableRoots] : []
  const roots = given.flatMap((path) => known.places.get(path) ?? []).filter(isThere)
  const meant = (path: string): readonly string[] => {
    if (!known.places.has(path)) return [path]
    const place = known.places.get(path)
    // No entry existed when the path was given, so the entry that is there now was created by a command.
    if (place === undefined) return []
    if (!isThere(place)) {
      // Commands may change anything inside a root. So a root that is inside a larger root may be missing now: it is left out, without an error.
      if (roots.some((root) => root.path !== place.path && isWithin(place.path, root.path))) return []
      throw new SandboxError('path-changed', { backend, path: place.path, approved: true })
    }
    wanted.set(place.path, place)
    return [place.path]
  }
  const settled = {
    ...policy,
    workspace: meant(policy.workspace)[0] ?? policy.workspace,
    writableRoots: policy.writableRoots.flatMap(meant),
    readableRoots: policy.readableRoots.flatMap(meant),
    writableFiles: policy.writableFiles.flatMap(meant),
    deniedReads: [...new Set([...policy.deniedReads, ...known.denied])],
  }
  return [settled, [...wanted.values()]]
}

/**
 * Opens the sandbox that enforces the policy `given`, with the requested `backend` if there is one. Throws `SandboxError`: `unavailable` if that
 * backend can't enforce all of the policy here (a part of it is never enough), `missing-directory` if the workspace or a writable root isn't a
 * directory, `invalid-policy` if a root is in one of the kernel's own directories, or `path-changed` if a path doesn't lead to the entry that
 * `known` expects.
 *
 * @example
 * await using sandbox = await openSandbox(parsePolicy({ mode: 'workspace-write', workspace: process.cwd() }))
 * const { stdout, denials } = await sandbox.run(['sh', '-c', 'echo one > a.txt; ls'])
 */
export async function openSandbox(given: SandboxPolicy, options: SandboxOptions = {}): Promise<OpenedSandbox> {
  const asked = await resolveServices(given, options.network?.resolve ?? resolveAsSystem)
  const backend = options.backend ?? defaultBackend(asked)
  if (asked.views.length === 0 || backend === 'unconfined') return runnable(await openAt(asked, backend, options))
  requireViews(asked, backend)
  const known = options.known && placesAtSources(options.known, asked.views)
  return runnable(withViews(asked, await openAt(policyAtSources(asked), backend, { ...options, known })))
}

/** Opens the sandbox for a policy that contains the host's own paths: paths in private views have been replaced by those of their sources. */
async function openAt(asked: SandboxPolicy, backend: Backend, options: SandboxOptions): Promise<Sandbox> {
  const [meant, wanted] = options.known === undefined ? [asked, []] : settle(asked, options.known, backend)
  const policy = filesApart(meant, hostFileSystem)
  requireDirectory(policy.workspace, 'workspace')
  if (policy.mode === 'workspace-write') {
    for (const root of policy.writableRoots) requireDirectory(root, 'writable root')
  }
  if (policy.mode !== 'danger-full-access') refuseKernelPlaces(policy)
  if (!factsOf(backend).hasAllowlist) requireNoAllowlist(policy, backend)
  await endLeftovers()
  await loadOwnCode(writableRoots(policy, hostFileSystem))
  if (factsOf(backend).confines) requireConfining(policy, backend)
  const { open } = await loadBackend(backend)
  const sandbox = await open(policy, { image: options.image, network: options.network, wanted })
  const { spawn } = sandbox
  return Object.assign(sandbox, {
    spawn: (command: Command): SandboxProcess => {
      checkCommand(command)
      return spawn.call(sandbox, command)
    },
  })
}

function requireViews({ mode, views }: SandboxPolicy, backend: Backend): void {
  if (backend !== 'bubblewrap' && views.some(({ over }) => over !== undefined)) {
    const reason = "it can't mount the layers of a private view"
    throw new SandboxError('unavailable', { backend, reason, remedy: 'Use the bubblewrap backend on Linux.' })
  }
  if (mode !== 'danger-full-access' && factsOf(backend).hasViews) return
  const others = backendNames().filter((name) => factsOf(name).hasViews)
  throw new SandboxError('unavailable', {
    backend,
    reason: "it shows commands the disk as it is, and can't give them a private view of the workspace",
    remedy: `Use the ${others.join(' or ')} backend on Linux, in workspace-write or read-only mode.`,
  })
}

function requireConfining(policy: SandboxPolicy, backend: Backend): void {
  if (policy.mode !== 'danger-full-access') return
  throw new SandboxError('unavailable', {
    backend,
    reason: 'danger-full-access mode requests no confinement, but this backend always confines commands',
    remedy: 'Choose read-only or workspace-write mode, or the unconfined backend.',
  })
}

/** The default backend for a policy. */
export function defaultBackend(policy: SandboxPolicy): Backend {
  return policy.mode === 'danger-full-access' ? 'unconfined' : confiningBackend()
}

/**
 * Throws `unavailable` if the policy has an allow-list, services or credentials. This is for backends that can't give commands a separate network from which our proxy is the
 * only way out.
 */
function requireNoAllowlist(policy: SandboxPolicy, backend: Backend): void {
  const [wanted] = [
    ...(policy.services.length > 0 ? ['services'] : []),
    ...(policy.credentials.length > 0 ? ['credentials'] : []),
  ]
  if (policy.network.mode !== 'allowlist' && wanted === undefined) return
  const others = backendNames().filter((name) => factsOf(name).hasAllowlist)
  throw new SandboxError('unavailable', {
    backend,
    reason:
      wanted === undefined
        ? "it can't enforce a network allow-list"
        : `it can't give commands ${wanted}, because they have no network of their own`,
    remedy: `Use the ${others.join(' or ')} backend on Linux, or ${wanted === undefined ? 'set the network mode to off' : `leave out the ${wanted}`}.`,
  })
}
