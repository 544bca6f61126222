import { resolve } from 'node:path'
import * as z from 'zod'
import { homeDirectory } from '../../../sandbox/index.ts'
import { isInside } from '../../core/directories-between.ts'
import { isTable } from '../../core/is-table.ts'
import { hostsWithin } from '../strictness.ts'
import { faultsOf } from '../validate.ts'
import { layTable } from './lay-table.ts'

type Table = Readonly<Record<string, unknown>>

/** A permission profile in the words of this program, and what can't be said in them: each with the reason. */
type SaidProfile = {
  readonly table: Table
  readonly refused: readonly { readonly path: readonly string[]; readonly why: string }[]
}

const access = z.enum(['read', 'write', 'deny', 'none']).transform((word) => (word === 'none' ? 'deny' : word))
/** The parts of a profile that can be said here. */
const Profile = z.strictObject({
  description: z.unknown().optional(),
  workspace_roots: z.record(z.string(), z.boolean()).default({}),
  filesystem: z.record(z.string(), z.record(z.string(), access)).default({}),
  network: z
    .object({
      enabled: z.boolean().default(false),
      mode: z.literal('full', "can't be limited to some methods here").optional(),
      domains: z.record(z.string().min(1), z.enum(['allow', 'deny'])).optional(),
      unix_sockets: z.record(z.string(), z.enum(['deny', 'none'], "can't be allowed one by one here")).optional(),
    })
    .catchall(z.literal(false, "can't be allowed here"))
    .default({ enabled: false }),
})
type Profile = z.infer<typeof Profile>

/** The profiles of Codex that others can extend. */
const parents: Readonly<Record<string, Table>> = {
  ':read-only': { filesystem: { ':root': 'read' } },
  ':workspace': { filesystem: { ':root': 'read', ':workspace_roots': 'write' } },
}

/** What commands have of their own here, whatever a profile says: a temporary directory, and the programs of the system. */
const ownPlaces: ReadonlySet<string> = new Set([':tmpdir', ':slash_tmp', ':minimal'])
const rootNames: ReadonlySet<string> = new Set([':workspace_roots', ':project_roots'])

/**
 * Says a permission profile of Codex in the words of this program (https://developers.openai.com/codex/permissions).
 *
 * @param profiles the profiles by name, as in Codex's configuration
 */
export function sayProfile(name: string, profiles: Table, workspace: string): SaidProfile {
  const path = ['permissions', name]
  const whole = withParents(name, profiles, [])
  if (typeof whole === 'string') return { table: {}, refused: [{ path: ['default_permissions'], why: whole }] }
  const { data, error } = Profile.safeParse(whole)
  if (data === undefined) {
    const faults = faultsOf(error).map((fault) => ({ ...fault, path: [...path, ...fault.path.map(String)] }))
    return {
      table: {},
      refused: faults.map((fault) => ({ path: fault.path, why: fault.unknown ? 'is not understood' : fault.message })),
    }
  }
  const [files, network] = [sayFiles(data, workspace), sayNetwork(data.network)]
  if (typeof files === 'string') return { table: {}, refused: [{ path: [...path, 'filesystem'], why: files }] }
  if (typeof network === 'string') return { table: {}, refused: [{ path: [...path, 'network'], why: network }] }
  return { table: layTable(files, { sandbox_workspace_write: network }), refused: [] }
}

/** Lays a profile over those that it extends. Returns what is wrong, if something is. */
function withParents(name: string, profiles: Table, seen: readonly string[]): Table | string {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : parents[name]
  if (!isTable(profile)) return `there is no permission profile ${JSON.stringify(name)} that can be used here`
  if (seen.includes(name)) return `the permission profile ${JSON.stringify(name)} extends itself`
  const { extends: parent, ...own } = profile
  const { glob_scan_max_depth: _, ...files } = isTable(own['filesystem']) ? own['filesystem'] : {}
  const filesystem = Object.fromEntries(
    Object.entries(files).map(([base, value]) => [base, isTable(value) ? value : { '.': value }]),
  )
  const whole = 'filesystem' in own ? { ...own, filesystem } : own
  if (parent === undefined) return whole
  const below = withParents(String(parent), profiles, [...seen, name])
  return typeof below === 'string' ? below : layTable(below, whole)
}

type Rule = { readonly path: string; readonly access: z.infer<typeof access> }

/** Says what commands may read and write. Returns why that can't be said, if it can't. */
function sayFiles({ filesystem, workspace_roots }: Profile, workspace: string): Table | string {
  const others = Object.keys(workspace_roots).filter((root) => workspace_roots[root] === true)
  const roots = [workspace, ...others.map(absolute)]
  const rules: Rule[] = []
  const deny: string[] = []
  for (const [base, below] of Object.entries(filesystem)) {
    if (ownPlaces.has(base)) continue
    const named = rootNames.has(base)
    if (!named && base !== ':root' && !/^(?:\/|~(?:\/|$))/.test(base)) return `the place '${base}' is not understood`
    const starts = named ? roots : [base === ':root' ? '/' : absolute(base)]
    for (const [sub, right] of Object.entries(below)) {
      const inner = sub.replace(/\/\*\*$/, '')
      if (inner.split('/').includes('..')) return `'${sub}' leads out of its place`
      const isPattern = /[*?[\\{]/.test(named ? inner : base + inner)
      if (!isPattern) rules.push(...starts.map((start) => ({ path: resolve(start, inner), access: right })))
      else if (named && right === 'deny' && (others.length === 0 || /^\*\*\/[^/]+$/.test(inner))) deny.push(inner)
      else return `'${base}', '${sub}': patterns can only be denied, and only in the workspace`
    }
  }
  return sayRules(rules, deny, workspace)
}

function absolute(path: string): string {
  return resolve(path.replace(/^~(?=\/|$)/, homeDirectory()))
}

function sayRules(rules: readonly Rule[], patterns: readonly string[], workspace: string): Table | string {
  /** The rule that counts for a path, or for what is around it. */
  const nearest = (path: string, among: readonly Rule[]): Rule | undefined =>
    among.filter((rule) => isInside(path, rule.path)).toSorted((one, two) => two.path.length - one.path.length)[0]
  const own = nearest(workspace, rules)?.access
  if (own === undefined || own === 'deny') return "commands can't be kept from reading the workspace"
  const [denied, writable, readable]: string[][] = [patterns.flatMap(denials), [], []]
  for (const rule of rules) {
    const { path } = rule
    if (path === '/' && rule.access === 'write') return "commands can't write everywhere and be in a sandbox"
    if (path === '/' || path === workspace) continue
    const around = nearest(
      path,
      rules.filter((other) => other.path !== path && other.path !== '/'),
    )
    const place = isInside(path, workspace) ? (around?.access ?? own) : around?.access
    if (rule.access === 'deny') {
      if (rules.some((other) => other.access !== 'deny' && other.path !== path && isInside(other.path, path)))
        return `'${path}' is denied, and something in it is not`
      denied?.push(...denials(`/${path}`))
    } else if (place === 'deny') return `'${path}' is permitted, and what is around it is denied`
    else if (rule.access === 'read') {
      if (place === 'write') denied?.push(`Edit(/${path})`)
      else if (!isInside(path, workspace)) readable?.push(path)
    } else if (own !== 'write') return `commands can write to '${path}' only if they can write in the workspace`
    else if (place === 'read' && isInside(path, workspace)) return `'${path}' is writable, and what is around it is not`
    else if (!isInside(path, workspace)) writable?.push(path)
  }
  return {
    sandbox_mode: own === 'write' ? 'workspace-write' : 'read-only',
    sandbox_workspace_write: { writable_roots: writable },
    ...(readable?.length === 0 ? {} : { sandbox_read: { allow: readable } }),
    ...(denied?.length === 0 ? {} : { permissions: { deny: denied } }),
  }
}

function denials(pattern: string): readonly string[] {
  return [`Read(${pattern})`, `Edit(${pattern})`]
}

/** Says which hosts commands reach. Returns why that can't be said, if it can't. */
function sayNetwork({ enabled, domains }: Profile['network']): Table | string {
  const having = (word: string): readonly string[] =>
    Object.entries(domains ?? {}).flatMap(([host, said]) => (said === word ? openPattern(host) : []))
  const [wanted, denied] = [having('allow'), having('deny')]
  const all = domains === undefined || wanted.includes('*')
  if (enabled && denied.length > 0 && wanted.some((host) => host.includes('*')))
    return "hosts can't be denied if others are allowed by a pattern"
  const open = (hosts: readonly string[]) => hosts.map((host) => ({ host, private: false }))
  const allowed = wanted.filter((host) => !hostsWithin(open([host]), open(denied)))
  return enabled && !all && allowed.length > 0 ? { allowed_hosts: allowed } : { network_access: enabled && all }
}

/** `**.example.com` is `example.com` and the hosts below it. */
function openPattern(host: string): readonly string[] {
  return host.startsWith('**.') ? [host.slice(3), host.slice(1)] : [host]
}
