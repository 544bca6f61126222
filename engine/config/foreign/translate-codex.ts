import { isTable } from '../../core/is-table.ts'
import { editDistance } from '../../core/text/nearest.ts'
import { keyOf } from '../leaves.ts'
import { settingsShape } from '../settings/index.ts'
import { codexKeys, codexTables } from './codex-keys.ts'
import { without } from './sound-settings.ts'

type Table = Readonly<Record<string, unknown>>

/** Codex's settings in the words of this program. */
type Translated = {
  /** The table with the keys of this program. Its values aren't validated. */
  readonly table: Table
  /** What can't be said in the words of this program, although it would make runs stricter: each with the reason. */
  readonly refused: readonly { readonly path: readonly string[]; readonly why: string }[]
}

/** Returns what a value of Codex means here; undefined if it means nothing. `name` is the part of the key that `*` stands for. */
type Meaning = (value: unknown, name: string) => Table | undefined

const searching = (mode: string): Meaning => {
  return (value) => ({ web_search: value === false ? 'disabled' : mode })
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
  'mcp_servers.*.default_tools_approval_mode': (value, name) => {
    const list = value === 'approve' ? 'allow' : value === 'prompt' ? 'ask' : undefined
    return list === undefined ? undefined : { permissions: { [list]: [`mcp__${name}`] } }
  },
  'mcp_servers.*.startup_timeout_ms': (value, name) =>
    typeof value === 'number' ? { mcp_servers: { [name]: { startup_timeout_sec: value / 1000 } } } : undefined,
}

/** The permission profiles that Codex itself has. */
const builtInProfiles: Readonly<Record<string, string>> = {
  ':read-only': 'read-only',
  ':workspace': 'workspace-write',
  ':danger-full-access': 'danger-full-access',
}

const profiles =
  "permission profiles of Codex aren't understood here; say with sandbox_mode, sandbox_read and allowed_hosts what they are to permit"

/**
 * Says Codex's settings in the words of this program. Keys that mean nothing here stay as they are.
 *
 * @param table the contents of a `config.toml`, or of a command line's overrides
 */
export function translateCodex(table: Table): Translated {
  let rest: Table = table
  let meant: Table = {}
  for (const [pattern, meaning] of Object.entries(meanings)) {
    for (const { path, name, value } of found(rest, pattern.split('.'))) {
      const said = meaning(value, name)
      if (said === undefined) continue
      rest = without(rest, path) as Table
      meant = joined(meant, said)
    }
  }
  const { default_permissions: chosen, permissions = {}, ...others } = rest
  // This program's own permissions are lists.
  const isOurs = isTable(permissions) && Object.values(permissions).every(Array.isArray)
  const refused = [
    ...(chosen === undefined ? [] : [{ path: ['default_permissions'], why: profiles }]),
    ...(isOurs || chosen === undefined ? [] : [{ path: ['permissions'], why: profiles }]),
  ]
  const kept = isOurs && 'permissions' in rest ? { ...others, permissions } : others
  return { table: joined(meant, kept), refused }
}

/** Finds the values at a path in which `*` stands for any key. */
function found(
  table: unknown,
  [key, ...rest]: readonly string[],
  path: readonly string[] = [],
  name = '',
): readonly { readonly path: readonly string[]; readonly name: string; readonly value: unknown }[] {
  if (key === undefined) return [{ path, name, value: table }]
  if (!isTable(table)) return []
  const names = key === '*' ? Object.keys(table) : Object.hasOwn(table, key) ? [key] : []
  return names.flatMap((each) => found(table[each], rest, [...path, each], key === '*' ? each : name))
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
