import { delimiter, dirname, isAbsolute, resolve } from 'node:path'
import process from 'node:process'
import {
  credentialPlaces,
  factsOf,
  openSandbox,
  parsePolicy,
  SandboxError,
  type Backend,
  type KnownPlaces,
  type NetworkOptions,
  type Sandbox,
  type SandboxPolicy,
  type View,
} from '../../sandbox/index.ts'
import { openCaches } from '../config/caches.ts'
import { configuredPolicy, refuseProtectedRoots } from '../config/configured-policy.ts'
import type { OpenCredentials } from '../config/no-credentials.ts'
import type { DeniedFiles } from '../config/denied-files.ts'
import type { Settings } from '../config/settings-schema.ts'
import { createEscalation, type Escalation } from '../escalation/escalation.ts'
import { UserError } from '../core/user-error.ts'
import type { ForbidsHost } from './forbidden-hosts.ts'
import { dockerByConfig, explainNoSandbox } from './no-sandbox.ts'
import { approvalModeOf, sandboxModeOf } from './modes.ts'

/**
 * What receives the decisions about the hosts that commands try to reach, their connections to services and their uses of credentials, and what knows the
 * values of credentials.
 */
export type NetworkWatch = Pick<
  NetworkOptions,
  'onDecision' | 'onConnection' | 'onOpenConnection' | 'onUse' | 'secretOf' | 'trustMore'
>

/** What a sandbox depends on in addition to the configuration. */
type RunSandboxOptions = {
  /** Whether an external sandbox surrounds this program. */
  readonly external: boolean
  /** Returns why a host on the network allow-list is forbidden. */
  readonly forbids: ForbidsHost
  /** Files that permissions deny. They are hidden and protected like the files that the configuration names. */
  readonly denied: DeniedFiles
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** Paths in private directories that commands may nevertheless read. */
  readonly readable: readonly string[]
  readonly watch: NetworkWatch
  readonly credentials: OpenCredentials
  /** The private views that commands see, and where they are stored. Default: none. */
  readonly views?: { readonly views: readonly View[]; readonly keptIn: string } | undefined
}

/**
 * Opens the sandbox for the whole run. Must be called before the first request.
 *
 * @throws UserError `sandboxUnavailable` if the policy can't be enforced here, `usage` if the policy is invalid
 */
export async function openRunSandbox(
  config: Settings,
  workspace: string,
  { external, forbids, denied, environment, readable, watch, credentials, views }: RunSandboxOptions,
): Promise<Sandbox> {
  const mode = sandboxModeOf(config)
  const configured = configuredPolicy(config, openCaches(config, mode, workspace, environment), credentials)
  const chosen = mode === 'danger-full-access' ? undefined : config.sandbox_backend
  const backend = external ? 'external' : chosen
  try {
    const policy = parsePolicy({
      mode,
      workspace,
      ...configured,
      views: [...(views?.views ?? [])],
      readableRoots: [...configured.readableRoots, ...readable, ...ownProgram(backend)],
      deniedReads: [
        ...credentialPlaces(),
        ...configured.deniedReads,
        ...denied.deniedReads,
        ...(views === undefined ? [] : [views.keptIn]),
      ],
      protectedPaths: [...configured.protectedPaths, ...denied.protectedPaths],
      environment: {
        ...configured.environment,
        set: { ...trustedPath(config, workspace, environment), ...configured.environment.set },
      },
    })
    refuseProtectedRoots(policy)
    return await openSandbox(policy, { backend, image: config.sandbox_image, network: rulesForProxy(forbids, watch) })
  } catch (error) {
    if (error instanceof SandboxError) {
      if (!SandboxError.is(error, 'unavailable')) throw new UserError('usage', error.message, { cause: error })
      throw new UserError('sandboxUnavailable', await explainNoSandbox(error, dockerByConfig), { cause: error })
    }
    throw error
  }
}

/** Provides sandboxes that grant wider access, for those of a run's calls that were approved. They have the same backend as the run's own sandbox. */
export function openEscalation(
  sandbox: Sandbox,
  config: Settings,
  forbids: ForbidsHost,
  watch: NetworkWatch,
): Escalation {
  return createEscalation(sandbox, openLike(sandbox, config, forbids, watch))
}

/** Opens a sandbox in the same way that the run's own sandbox is opened. */
export type OpenSandbox = (policy: SandboxPolicy, known?: KnownPlaces) => Promise<Sandbox>

/** Returns a function that opens sandboxes with the same backend as a run's sandbox, at the entries that the run's own was opened at. */
export function openLike(sandbox: Sandbox, config: Settings, forbids: ForbidsHost, watch: NetworkWatch): OpenSandbox {
  const open = openForCopies(sandbox, config, forbids, watch)
  return (policy, known = sandbox.known?.()) => open(policy, known)
}

/**
 * Returns a function that opens sandboxes like `openLike`, but takes the entries at the policy's paths as they are, unless they are given. Without them, only for
 * copies that no command has ever seen.
 */
export function openForCopies(
  { backend }: Sandbox,
  config: Settings,
  forbids: ForbidsHost,
  watch: NetworkWatch,
): OpenSandbox {
  return (policy, known) =>
    openSandbox(policy, { backend, image: config.sandbox_image, network: rulesForProxy(forbids, watch), known })
}

/** The rules about hosts for a sandbox's proxy. The proxy can't see the protocol inside a tunnel, so everything except plain HTTP counts as HTTPS. */
export function rulesForProxy(forbids: ForbidsHost, watch: NetworkWatch): NetworkOptions {
  return { ...watch, forbids: (host, port, via) => forbids(host, port, via === 'http' ? 'http' : 'https') }
}

/**
 * Returns a list with Node's directory, which commands must be able to read: Node runs the tools that work inside the sandbox, and the sandbox might
 * otherwise hide the directory. The list is empty for a container, which has its own Node.
 */
function ownProgram(backend: Backend | undefined): readonly string[] {
  return backend !== undefined && factsOf(backend).hasImage ? [] : [dirname(process.execPath)]
}

/**
 * The `PATH` of commands. In the mode `untrusted`, the repository must not decide which program a bare name runs: a folder of the workspace on the PATH could
 * contain a different `ls`.
 */
function trustedPath(
  config: Settings,
  workspace: string,
  environment: Readonly<NodeJS.ProcessEnv>,
): Readonly<Record<string, string>> {
  if (approvalModeOf(config) !== 'untrusted') return {}
  const folders = (environment['PATH'] ?? '').split(delimiter)
  const trusted = folders.filter((folder) => isAbsolute(folder) && !`${resolve(folder)}/`.startsWith(`${workspace}/`))
  return { PATH: trusted.join(delimiter) }
}
