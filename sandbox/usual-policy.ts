import { isAbsolute } from 'node:path'
import { credentialPlaces, protectedPlaces } from './protected/default-places.ts'
import { defaultHome } from './homes.ts'
import type { ParsedPolicy } from './policy-schema.ts'
import { isUsualList, leavingPath, unusualPath, variableName } from './usual-list.ts'

type Input = Readonly<Record<string, unknown>>
type Environment = ParsedPolicy['environment']

const modes: readonly unknown[] = [
  'read-only',
  'workspace-write',
  'danger-full-access',
] satisfies ParsedPolicy['mode'][]
const inherited: readonly unknown[] = ['core', 'all', 'none'] satisfies Environment['inherit'][]
const keys: ReadonlySet<string> = new Set<keyof ParsedPolicy>([
  'mode',
  'workspace',
  'writableRoots',
  'writableFiles',
  'readableRoots',
  'deniedReads',
  'home',
  'protectedPaths',
  'views',
  'network',
  'services',
  'credentials',
  'dockerSocket',
  'unixSockets',
  'environment',
  'limits',
])
const environmentKeys: ReadonlySet<string> = new Set<keyof Environment>([
  'inherit',
  'pass',
  'exclude',
  'includeOnly',
  'set',
])

/**
 * Checks a policy and fills in its defaults without a schema, because creating the schema takes longer than all the checks. This
 * function handles only what most runs need: paths that are already absolute and normalized, and no limits, views, services, credentials, list of hosts or docker socket.
 *
 * @returns what the schema would return; undefined if the policy is invalid or unusual, so that the schema has to decide
 */
export function usualPolicy(input: unknown): ParsedPolicy | undefined {
  if (!isObject(input, keys)) return undefined
  const {
    mode,
    workspace,
    unixSockets = false,
    protectedPaths = [...protectedPlaces()],
    home = defaultHome,
    views = [],
    limits = {},
    services = [],
    credentials = [],
  } = input
  const [writableRoots, writableFiles, readableRoots, deniedReads] = [
    places(input['writableRoots']),
    places(input['writableFiles']),
    places(input['readableRoots']),
    places(input['deniedReads'] === undefined ? [...credentialPlaces()] : input['deniedReads']),
  ]
  const [network, environment] = [networkOf(input['network']), environmentOf(input['environment'])]
  if (
    !isMode(mode) ||
    typeof workspace !== 'string' ||
    !isAbsolute(workspace) ||
    workspace.includes('\0') ||
    !workspace.isWellFormed()
  )
    return undefined
  if (writableRoots === undefined || writableFiles === undefined || readableRoots === undefined) return undefined
  if (deniedReads === undefined || network === undefined || environment === undefined) return undefined
  if (home !== 'closed' && home !== 'open') return undefined
  if (typeof unixSockets !== 'boolean' || !isUsualList(protectedPaths, leavingPath)) return undefined
  if (input['dockerSocket'] !== undefined || !isEmpty(views) || !isEmpty(limits)) return undefined
  if (!isEmpty(services) || !isEmpty(credentials)) return undefined
  const lists = { writableRoots, writableFiles, readableRoots, deniedReads, protectedPaths: [...protectedPaths] }
  return {
    mode,
    workspace,
    ...lists,
    home,
    views: [],
    network,
    services: [],
    credentials: [],
    unixSockets,
    environment,
    limits: {},
  }
}

function isObject(value: unknown, known: ReadonlySet<string>): value is Input {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false
  return Reflect.ownKeys(value).every((key) => typeof key === 'string' && known.has(key))
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value, new Set())
}

function isMode(value: unknown): value is ParsedPolicy['mode'] {
  return modes.includes(value)
}

function isInherited(value: unknown): value is Environment['inherit'] {
  return inherited.includes(value)
}

function places(given: unknown = []): string[] | undefined {
  if (Array.isArray(given) && given.length === 0) return []
  return isUsualList(given, unusualPath) ? [...new Set(given)] : undefined
}

function networkOf(given: unknown = { mode: 'off' }): ParsedPolicy['network'] | undefined {
  if (!isObject(given, new Set(['mode']))) return undefined
  const { mode } = given
  return mode === 'off' || mode === 'full' ? { mode } : undefined
}

function environmentOf(given: unknown = {}): Environment | undefined {
  if (!isObject(given, environmentKeys)) return undefined
  const { inherit = 'core', pass = [], exclude = [], includeOnly = [], set = {} } = given
  if (!isInherited(inherit) || !areNames(pass) || !areNames(exclude) || !areNames(includeOnly)) return undefined
  if (!isVariables(set)) return undefined
  return { inherit, pass: [...pass], exclude: [...exclude], includeOnly: [...includeOnly], set: { ...set } }
}

function areNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && variableName.test(name))
}

function isVariables(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false
  return Reflect.ownKeys(value).every((name) => {
    if (typeof name !== 'string' || !variableName.test(name) || name === '__proto__') return false
    const text: unknown = Reflect.get(value, name)
    return typeof text === 'string' && !text.includes('\0') && text.isWellFormed()
  })
}
