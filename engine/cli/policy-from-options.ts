import { resolve } from 'node:path'
import process from 'node:process'
import {
  credentialPlaces,
  homeDirectory,
  parsePolicy,
  SandboxError,
  serviceInstead,
  type SandboxPolicy,
  type SandboxPolicyInput,
  type View,
} from '../../sandbox/index.ts'
import { openCaches } from '../config/caches.ts'
import { noCredentials } from '../config/no-credentials.ts'
import { openPresets } from '../config/host-presets.ts'
import { addServices, serviceAdvice } from '../config/services.ts'
import { knownLimits, readLimitValue } from '../core/limit-values.ts'
import { configuredPolicy, refuseProtectedRoots } from '../config/configured-policy.ts'
import { defaultSandbox } from '../config/defaults.ts'
import type { Settings } from '../config/settings-schema.ts'
import { UserError } from '../core/user-error.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import { externalMode } from '../app/modes.ts'

/** Private views for a command, and the paths that it isn't shown: where the views are kept, or files with secrets. */
export type ShownViews = { readonly views: readonly View[]; readonly withheld: readonly string[] }

/**
 * Builds the policy for `agent sandbox` from its flags and the configuration. Only the flags choose the mode. Paths and variables from flags are added to the
 * configured ones; a flag for the network or a limit replaces the configured value. Denied paths are added to those that are always denied.
 *
 * @throws UserError `usage` with the flag and what was expected
 */
export function policyFromOptions(
  options: SandboxOptions,
  config: Settings,
  workspace: string,
  shown?: ShownViews,
  credentials = noCredentials,
): SandboxPolicy {
  const mode =
    options.externallySandboxed === true ? externalMode(options.sandbox) : (options.sandbox ?? defaultSandbox)
  const socket = options.dangerouslyMountDockerSocket === true ? { dangerously_mount_docker_socket: true } : {}
  const configured = configuredPolicy(
    { ...config, ...socket },
    openCaches(config, mode, workspace, process.env),
    credentials,
  )
  const pass = options.env.filter((entry) => !entry.includes('='))
  const set = options.env.filter((entry) => entry.includes('=')).map(splitAtEquals)
  const policy = checked({
    mode,
    workspace,
    writableRoots: [...configured.writableRoots, ...options.writable.map((path) => resolve(path))],
    readableRoots: [
      ...configured.readableRoots,
      ...[...options.readable, ...options.allowRead].map((path) => resolve(path)),
    ],
    home: options.openHome === true ? 'open' : configured.home,
    views: [...(shown?.views ?? [])],
    deniedReads: [
      ...credentialPlaces(),
      ...configured.deniedReads,
      ...options.denyRead.map(denied),
      ...(shown?.withheld ?? []),
    ],
    protectedPaths: configured.protectedPaths,
    network: networkOf(options) ?? configured.network,
    services: [...addServices(configured.services, options.service)],
    credentials: configured.credentials,
    dockerSocket: configured.dockerSocket,
    unixSockets: options.allowUnixSockets ?? configured.unixSockets,
    environment: {
      ...configured.environment,
      pass,
      set: { ...configured.environment.set, ...Object.fromEntries(set) },
    },
    limits: { ...configured.limits, ...Object.fromEntries(options.limit.map(readLimit)) },
  })
  refuseProtectedRoots(policy)
  return policy
}

/**
 * Reads the value of a flag that denies reading. As in the key `sandbox_read.deny`, a text without a slash is a name that is hidden in every
 * directory; a text with a slash is a path, or such a name if it begins with two stars and a slash. `.`, `..` and `~` are paths too.
 */
function denied(text: string): string {
  if (text === '~') return homeDirectory()
  if (text.startsWith('~/') || text.startsWith('**/')) return text
  return text.includes('/') || ['', '.', '..'].includes(text) ? resolve(text) : `**/${text}`
}

function networkOf({ network, allowHost, allowPrivateHost }: SandboxOptions): SandboxPolicyInput['network'] {
  refuseLoopback('--allow-host', allowHost)
  refuseLoopback('--allow-private-host', allowPrivateHost)
  const allow = [...openPresets(allowHost), ...allowPrivateHost.map((host) => ({ host, allowPrivate: true }))]
  if (allow.length === 0) return network === undefined ? undefined : { mode: network }
  if (network !== undefined)
    throw new UserError(
      'usage',
      `--allow-host (or --allow-private-host) contradicts --network ${network}: leave one of them out`,
    )
  return { mode: 'allowlist', allow }
}

function refuseLoopback(flag: string, hosts: readonly string[]): void {
  for (const host of hosts) {
    const service = serviceInstead(host)
    if (service !== undefined)
      throw new UserError('usage', `${flag} ${JSON.stringify(host)}: ${serviceAdvice(service)}`)
  }
}

function checked(input: SandboxPolicyInput): SandboxPolicy {
  try {
    return parsePolicy(input)
  } catch (error) {
    if (error instanceof SandboxError) throw new UserError('usage', error.message, { cause: error })
    throw error
  }
}

function readLimit(entry: string): readonly [string, number] {
  const [name, value] = splitAtEquals(entry)
  const known = Object.hasOwn(knownLimits, name) ? knownLimits[name] : undefined
  if (known === undefined) {
    throw new UserError(
      'usage',
      `--limit ${entry}: expected one of ${Object.keys(knownLimits).join(', ')}, e.g. memory=512M`,
    )
  }
  const read = readLimitValue(known, value)
  if ('expected' in read) throw new UserError('usage', `--limit ${entry}: expected ${read.expected}`)
  return [known.limit, read.value]
}

function splitAtEquals(entry: string): readonly [string, string] {
  const at = entry.indexOf('=')
  return at === -1 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
}
