import type { SandboxPolicy } from '../../../sandbox/index.ts'
import { isTable } from '../../core/is-table.ts'
import { editDistance } from '../../core/text/nearest.ts'
import { keyOf } from '../leaves.ts'
import { modeWithin } from '../strictness.ts'
import { settingsShape } from '../settings/index.ts'
import { codexKeys, codexTables } from './codex-keys.ts'
import { sayProfile } from './codex-permissions.ts'
import { layTable } from './lay-table.ts'
import { without } from './sound-settings.ts'

type Table = Readonly<Record<string, unknown>>

/** Codex's settings in the words of this program. */
type Translated = {
  /** The table with the keys of this program. Its values aren't validated. */
  readonly table: Table
  /** What can't be said in the words of this program, although it would make runs stricter: each with the reason. */
  readonly refused: readonly { readonly path: readonly string[]; readonly why: string }[]
}

/** Returns what a value of Codex means here; undefined if it means nothing. `path`: the parts of its key. */
type Meaning = (value: unknown, path: readonly string[]) => Table | undefined

const searching = (mode: string): Meaning => {
  return (value) => (typeof value === 'boolean' ? { web_search: value ? mode : 'disabled' } : undefined)
}

/** Who decides about all tools of a server, or about one of them. */
const deciding: Meaning = (value, [, server, , tool]) => {
  const list = value === 'approve' ? 'allow' : value === 'prompt' ? 'ask' : undefined
  const named = tool === undefined ? `mcp__${server}` : `mcp__${server}__${tool}`
  return list === undefined ? undefined : { permissions: { [list]: [named] } }
}

/** What keys of Codex mean that have no key of the same name here. */
const meanings: Readonly<Record<string, Meaning>> = {
  'tools.web_search': searching('live'),
  'features.web_search_request': searching('live'),
  'features.web_search_cached': searching('cached'),
  web_search: (value) => (value === 'indexed' ? { web_search: 'cached' } : undefined),
  default_permissions: (value) => {
    const mode = typeof value === 'string' ? builtInProfiles[value] : undefined
    return mode === undefined ? undefined : { sandbox_mode: mode }
  },
  'mcp_servers.*.default_tools_approval_mode': deciding,
  'mcp_servers.*.tools.*.approval_mode': deciding,
  'mcp_servers.*.startup_timeout_ms': (value, [, name = '']) =>
    typeof value === 'number' ? { mcp_servers: { [name]: { startup_timeout_sec: value / 1000 } } } : undefined,
}

/** The permission profiles that Codex itself has. */
const builtInProfiles: Readonly<Record<string, SandboxPolicy['mode']>> = {
  ':read-only': 'read-only',
  ':workspace': 'workspace-write',
  ':danger-full-access': 'danger-full-access',
}

/** What surrounds a table of Codex. */
type Around = {
  readonly workspace: string
  /** The permission profiles that the table can choose besides its own, by name. */
  readonly profiles?: Table
  /** Whether something above the table says what commands may access. Of a profile that the table chooses, only denials count then. */
  readonly isModeSaid?: boolean
}

/**
 * Says Codex's settings in the words of this program. Keys that mean nothing here stay as they are.
 *
 * @param table the contents of a `config.toml`, or of a command line's overrides
 */
export function translateCodex(table: Table, { workspace, profiles = {}, isModeSaid = false }: Around): Translated {
  let rest: Table = table
  let meant: Table = {}
  for (const [pattern, meaning] of Object.entries(meanings)) {
    for (const { path, value } of found(rest, pattern.split('.'))) {
      const said = meaning(value, path)
      if (said === undefined) continue
      rest = withoutAll(rest, path)
      meant = joined(meant, said)
    }
  }
  const { default_permissions: chosen, permissions, ...others } = rest
  const parts = isTable(permissions) ? Object.entries(permissions) : []
  // This program's own permissions are lists.
  const lists = Object.fromEntries(parts.filter(([, part]) => !isTable(part)))
  const named = layTable(profiles, Object.fromEntries(parts.filter(([, part]) => isTable(part))))
  const kept = Object.keys(lists).length === 0 ? others : { ...others, permissions: lists }
  if (chosen === undefined) return { table: { ...joined(meant, kept), ...stricterMode(meant, kept) }, refused: [] }
  const { table: said, refused } = sayProfile(String(chosen), named, workspace)
  const { permissions: denials = {} } = said
  // As in Codex, a profile isn't joined with the other settings of the sandbox: these count if they say the mode, and else the profile.
  const { sandbox_workspace_write: _, ...besides } = kept
  if (!isModeSaid && kept['sandbox_mode'] === undefined) return { table: joined(joined(meant, said), besides), refused }
  return { table: { ...joined(joined(meant, { permissions: denials }), kept), ...stricterMode(said, kept) }, refused }
}

/** If a table says by two keys what commands may access, the stricter of the two counts. */
function stricterMode({ sandbox_mode: meant }: Table, { sandbox_mode: said }: Table): Table {
  const [first, second] = [meant, said].map((mode) => Object.values(builtInProfiles).find((each) => each === mode))
  return first !== undefined && modeWithin(first, second) ? { sandbox_mode: first } : {}
}

/** The keys by which a table of Codex says what commands may access. */
const modeKeys = ['sandbox_mode', 'default_permissions']

/** Lays a table of Codex over another: of two values, the upper counts, also if the tables say by different keys what commands may access. */
export function layOver(lower: Table, upper: Table): Table {
  const saysMode = modeKeys.some((key) => upper[key] !== undefined)
  return layTable(saysMode ? modeKeys.reduce<Table>((rest, key) => without(rest, [key]) as Table, lower) : lower, upper)
}

/** Finds the values at a path in which `*` stands for any key. */
function found(
  table: unknown,
  [key, ...rest]: readonly string[],
  path: readonly string[] = [],
): readonly { readonly path: readonly string[]; readonly value: unknown }[] {
  if (key === undefined) return [{ path, value: table }]
  if (!isTable(table)) return []
  const names = key === '*' ? Object.keys(table) : Object.hasOwn(table, key) ? [key] : []
  return names.flatMap((each) => found(table[each], rest, [...path, each]))
}

/** Removes a value, and the tables that are then empty. */
function withoutAll(table: Table, path: readonly string[]): Table {
  const rest = without(table, path) as Table
  const above = path.slice(0, -1)
  const left = above.reduce<unknown>((at, key) => (isTable(at) ? at[key] : undefined), rest)
  return above.length > 0 && isTable(left) && Object.keys(left).length === 0 ? withoutAll(rest, above) : rest
}

/** Joins two tables. Lists are joined too; of two other values, the second counts. */
function joined(first: Table, second: Table): Table {
  const both = Object.entries(second).map(([key, value]): [string, unknown] => {
    const before = Object.hasOwn(first, key) ? first[key] : undefined
    if (isTable(before) && isTable(value)) return [key, joined(before, value)]
    return [key, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value]
  })
  return { ...first, ...Object.fromEntries(both) }
}

/** Whether Codex has a key. */
export function isCodexKey(path: readonly string[]): boolean {
  const [top = '', second, third] = path
  if (!codexKeys.includes(top)) return false
  const own = codexTables[top]
  if (own !== undefined) return second === undefined || own.includes(second)
  const named = codexTables[`${top}.*`]
  return named === undefined || third === undefined || named.includes(third)
}

/** The keys of both programs about what commands may access, and who decides that. */
const guarding = [
  ...codexKeys,
  ...Object.keys(settingsShape),
  ...(codexTables['sandbox_workspace_write'] ?? []),
].filter((key) => /sandbox|approv|permission|network/.test(key))

/** Returns the key about the sandbox, approvals or the network that a misspelt key was probably meant to be; undefined if there is none. */
export function guardingKeyNear(path: readonly string[]): string | undefined {
  for (const part of path) {
    const near = guarding.find((key) => part !== key && editDistance(part.toLowerCase(), key) <= 2)
    if (near !== undefined) return keyOf([...path.slice(0, path.indexOf(part)), near])
  }
  return undefined
}
