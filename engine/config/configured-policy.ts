import { existsSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import {
  credentialPlaces,
  localDockerSocket,
  protectedPlaces,
  protectedTable,
  type SandboxPolicy,
  type SandboxPolicyInput,
} from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import { UserError } from '../core/user-error.ts'
import { noCredentials, type OpenCredentials } from './no-credentials.ts'
import { noCaches, type Caches } from './caches.ts'
import { knownLimits, readLimitValue } from '../core/limit-values.ts'
import type { Settings } from './settings-schema.ts'

/** The parts of a policy that the configuration decides. */
type ConfiguredPolicy = {
  readonly [
    Key in 'writableRoots' | 'readableRoots' | 'protectedPaths' | 'network' | 'environment' | 'limits'
  ]: NonNullable<SandboxPolicyInput[Key]>
} & {
  readonly services: string[]
  readonly home: SandboxPolicyInput['home']
  readonly credentials: NonNullable<SandboxPolicyInput['credentials']>
  /** Paths, and patterns for names at any depth, to deny in addition to the paths that are always denied. */
  readonly deniedReads: readonly string[]
  readonly dockerSocket: string | undefined
  readonly unixSockets: boolean
}

/**
 * Builds the sandbox policy that a configuration describes.
 *
 * @param caches the caches of package managers, from `openCaches`; variables that the configuration sets override those of the caches
 * @param credentials the configured credentials, from `openCredentials`
 * @throws UserError `usage` naming the key, if a limit is invalid, if services or credentials contradict the network, if `protected.allow` names something that isn't a protected place, or if the
 *   docker socket is allowed but `DOCKER_HOST` names a daemon that has no socket on this machine
 */
export function configuredPolicy(
  config: Settings,
  caches: Caches = noCaches,
  credentials: OpenCredentials = noCredentials,
): ConfiguredPolicy {
  const environment = config.shell_environment_policy
  return {
    writableRoots: [...(config.sandbox_workspace_write?.writable_roots ?? []), ...caches.roots],
    readableRoots: config.sandbox_read?.allow ?? [],
    home: config.sandbox_read?.home,
    deniedReads: (config.sandbox_read?.deny ?? []).map((entry) => (entry.includes('/') ? entry : `**/${entry}`)),
    protectedPaths: [...configuredProtection(config)],
    network: networkPolicy(config),
    services: config.services ?? [],
    credentials: credentials.policy.map((each) => ({ ...each, hosts: [...each.hosts], allow: [...each.allow] })),
    unixSockets: config.allow_unix_sockets === true,
    dockerSocket: config.dangerously_mount_docker_socket === true ? dockerSocket() : undefined,
    environment: {
      inherit: environment?.inherit,
      exclude: [...(environment?.exclude ?? []), ...credentials.exclude],
      includeOnly: environment?.include_only,
      set: { ...caches.set, ...credentials.set, ...environment?.set },
    },
    limits: Object.fromEntries(Object.entries(config.sandbox_limits ?? {}).map(readLimit)),
  }
}

/**
 * Refuses to let commands work in a place that is protected: it would lose its protection, because the user named it.
 *
 * @throws UserError `usage` naming the directory and the place
 */
export function refuseProtectedRoots({ mode, workspace, writableRoots, protectedPaths }: SandboxPolicy): void {
  if (mode === 'danger-full-access') return
  const isReadOnly = mode === 'read-only'
  const places = (isReadOnly ? credentialPlaces() : protectedPaths).filter((place) => isAbsolute(place))
  for (const root of [workspace, ...(isReadOnly ? [] : writableRoots)]) {
    const place = places.find((each) => isInside(root, each))
    if (place === undefined || statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) continue
    // A repository in such a place is a project, for example a plugin of an editor.
    if (isInProject(root, place)) continue
    const why = 'credentials are kept there, or what it contains controls other programs'
    const remedy =
      'Work in another directory, or, if it holds no credentials, allow the place with the key protected.allow'
    const what = root === place ? `${root} is` : `${root} is in ${place}, which is`
    throw new UserError('usage', `${what} protected: ${why}. ${remedy}.`)
  }
}

/** Whether a directory is in a repository whose top is below `place`. */
function isInProject(directory: string, place: string): boolean {
  for (let at = directory; at !== place && at !== '/'; at = dirname(at)) if (existsSync(join(at, '.git'))) return true
  return false
}

/** The workspace and the configured `writable_roots`. */
export function rootsOf(config: Settings, workspace: string): readonly string[] {
  return [workspace, ...(config.sandbox_workspace_write?.writable_roots ?? [])]
}

/**
 * The protected places, without those that the configuration makes writable.
 *
 * @throws UserError `usage` if `protected.allow` names something that isn't a protected place
 */
export function configuredProtection(config: Settings): readonly string[] {
  return protectedPlaces(allowedPlaces(config))
}

function allowedPlaces({ protected: table }: Settings): readonly string[] {
  if (table?.allow === undefined) return []
  const known = protectedTable().filter(({ what, program }) => what !== 'credentials' && program !== 'Portcullis')
  return table.allow.map((entry) => {
    const name = entry.replace(/^(?:\*\*|~)\//, '').replace(/\/$/, '')
    if (known.some(({ at }) => at.replace(/^(?:\*\*|~)\//, '') === name)) return name
    throw new UserError(
      'usage',
      `key 'protected.allow': ${JSON.stringify(entry)} is not a protected place. Protected places have names like ".vscode/settings.json", ".husky" or ".bashrc"; "agent doctor --protected" lists them`,
    )
  })
}

function dockerSocket(): string {
  const socket = localDockerSocket()
  if (socket !== undefined) return socket
  throw new UserError(
    'usage',
    "dangerously_mount_docker_socket: DOCKER_HOST names a daemon that can't be reached through a socket on this machine. Remove this setting and allow the daemon's host instead.",
  )
}

function networkPolicy({
  sandbox_workspace_write: table,
  services = [],
  credentials = {},
}: Settings): NonNullable<SandboxPolicyInput['network']> {
  const [wanted] = [
    ...(services.length > 0 ? ['services (or --service)'] : []),
    ...(Object.keys(credentials).length > 0 ? ['credentials (or --credential)'] : []),
  ]
  if (wanted !== undefined && table?.network_access === true) {
    throw new UserError(
      'usage',
      `${wanted} contradicts sandbox_workspace_write.network_access = true, with which commands reach every host themselves: leave out one of the two`,
    )
  }
  if (table?.allowed_hosts === undefined) return { mode: table?.network_access === true ? 'full' : 'off' }
  const allow = table.allowed_hosts.map((entry) =>
    typeof entry === 'string' ? entry : { host: entry.host, allowPrivate: entry.allow_private },
  )
  return { mode: 'allowlist', allow }
}

function readLimit([key, value]: readonly [string, unknown]): readonly [string, number] {
  const known = knownLimits[key.replaceAll('_', '-')]
  if (known === undefined) throw new TypeError('the schema must reject unknown limits')
  const read = readLimitValue(known, `${value}`)
  if ('value' in read) return [known.limit, read.value]
  throw new UserError('usage', `key 'sandbox_limits.${key}': must be ${read.expected}, not ${JSON.stringify(value)}`)
}
