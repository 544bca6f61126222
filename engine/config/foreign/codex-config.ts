import { basename, join } from 'node:path'
import { isTable } from '../../core/is-table.ts'
import { UserError } from '../../core/user-error.ts'
import { ignoredForFault, ignoring, type Ignored } from '../ignored.ts'
import { fromLeaves, keyOf, leavesOf, type Leaf } from '../leaves.ts'
import type { Layer } from '../merge-layers.ts'
import { parseToml } from '../toml.ts'
import { placeOf, type Place } from '../validate.ts'
import { describeMeaningless } from './codex-unknown.ts'
import { readForeignText } from './read-text.ts'
import { soundSettings, without, withoutUnknown } from './sound-settings.ts'
import { layOver, translateCodex } from './translate-codex.ts'

/**
 * The keys of Codex's configuration that have the same meaning in the configuration of this program
 * (https://developers.openai.com/codex/config-reference).
 */
const sameMeaning: ReadonlySet<string> = new Set([
  'model',
  'model_provider',
  'model_providers',
  'model_reasoning_effort',
  'model_verbosity',
  'model_context_window',
  'model_auto_compact_token_limit',
  'openai_base_url',
  'approval_policy',
  'approvals_reviewer',
  'sandbox_mode',
  'sandbox_workspace_write',
  'shell_environment_policy',
  'mcp_servers',
  'tool_output_token_limit',
  'web_search',
  'service_tier',
  'developer_instructions',
  'model_instructions_file',
  'project_doc_max_bytes',
  'project_doc_fallback_filenames',
  // Only in translations: Codex itself calls something else by the first of these names, and doesn't have the second.
  'permissions',
  'sandbox_read',
])

/** What is imported from another program's file. */
type ForeignSettings = {
  /** The imported settings; undefined if no setting of the file is used. */
  readonly layer: Layer | undefined
  readonly ignored: readonly Ignored[]
}

const none: ForeignSettings = { layer: undefined, ignored: [] }

/** What a command line for Codex says about its configuration. */
export type CodexDoor = {
  /** Whether the user's configuration of Codex counts. If not, only its settings that make runs stricter do. */
  readonly userConfig: boolean
  /** Whether what rule files of the user and the repository allow counts. What they forbid or ask about always does. */
  readonly rules: boolean
  /** Whether a key that neither program has is an error. */
  readonly strict: boolean
  /** The name of a profile: a table of Codex's configuration, or a file next to it. */
  readonly profile?: string | undefined
  /** The root of the repository. If Codex trusts it, the sandbox is `workspace-write` by default. */
  readonly root: string
  /** The key with which the command line says what commands may access, if it does. */
  readonly modeKey?: 'sandbox_mode' | 'default_permissions' | undefined
}

/** The path of Codex's configuration in its folder. */
export function codexConfigFile(folder: string): string {
  return join(folder, 'config.toml')
}

/**
 * Reads the settings in Codex's configuration that have a meaning in this program. Without a door, never fails, whatever the file contains.
 *
 * @param folder the folder of Codex
 * @param workspace the folder to which the patterns of permission profiles are relative
 * @param whole whether to use all of these settings. Otherwise only those that make a run stricter are used, and other keys aren't reported as ignored
 * @param door the command line for Codex that the user gave, if there is one
 * @throws UserError `usage` with a door, for a file that isn't TOML, for a missing profile, and for a key that must not be passed over
 */
export function readCodexConfig(folder: string, workspace: string, whole: boolean, door?: CodexDoor): ForeignSettings {
  const path = codexConfigFile(folder)
  const read = readTable(path)
  if (read !== undefined && 'fault' in read) {
    if (door !== undefined && whole) throw new UserError('usage', read.fault)
    return { layer: undefined, ignored: [ignoredForFault(path, read.fault)] }
  }
  if (read === undefined && door?.profile === undefined) return none
  const { text = '', table = {} } = read ?? {}
  const chosen =
    whole && door !== undefined ? withProfile(folder, layOver(trustDefaults(table, door), table), door.profile) : table
  const overridden = door?.modeKey === 'default_permissions' ? (without(chosen, [door.modeKey]) as Table) : chosen
  return settingsIn({ name: path, text }, overridden, workspace, whole, door)
}

/** The permission profiles in Codex's configuration, by name. A file that can't be read has none. */
export function codexProfiles(folder: string, door: Pick<CodexDoor, 'profile'>): Table {
  const read = readTable(codexConfigFile(folder))
  const { permissions } = withProfile(folder, read !== undefined && 'table' in read ? read.table : {}, door.profile)
  return isTable(permissions) ? permissions : {}
}

function settingsIn(
  place: Place,
  table: Table,
  workspace: string,
  whole: boolean,
  door: CodexDoor | undefined,
): ForeignSettings {
  const said = translateCodex(
    only(table, (key) => !consumed.has(key)),
    {
      workspace,
      isModeSaid: door?.modeKey === 'sandbox_mode',
    },
  )
  const [refusal] = said.refused
  if (refusal !== undefined && door !== undefined && whole)
    throw new UserError('usage', `${placeOf(place, refusal.path)}: key '${keyOf(refusal.path)}': ${refusal.why}.`)
  const known = withoutUnknown(only(said.table, (key) => sameMeaning.has(key)))
  const { settings, refused } = soundSettings(known.table)
  const counting = leavesOf(settings).filter((leaf) => whole || tightens(leaf))
  const layer: Layer | undefined =
    counting.length === 0 ? undefined : { ...place, kind: 'imported', settings: fromLeaves(counting) }
  const relevant = refused.filter((one) => whole || tightens({ path: one.path, value: undefined }))
  if (!whole) return { layer, ignored: relevant.flatMap((one) => invalid(place, one)) }
  const others = Object.keys(only(said.table, (key) => !sameMeaning.has(key))).map((key) => [key])
  const meaningless = [...others, ...known.unknown]
  return {
    layer,
    ignored: [
      ...(door === undefined
        ? ignoring(place.name, meaningless.map(keyOf), 'Codex has this setting, but Portcullis does not')
        : describeMeaningless(place, meaningless, door.strict)),
      ...said.refused.flatMap((one) => invalid(place, one)),
      ...relevant.flatMap((one) => invalid(place, one)),
    ],
  }
}

/** Keys of Codex's configuration that choose what else of it counts. */
const consumed: ReadonlySet<string> = new Set(['profile', 'profiles', 'projects'])

type Table = Readonly<Record<string, unknown>>

/** What Codex does by default in a repository that its user trusts. */
function trustDefaults({ projects }: Table, { root }: CodexDoor): Table {
  const project = isTable(projects) && Object.hasOwn(projects, root) ? projects[root] : undefined
  return isTable(project) && project['trust_level'] === 'trusted' ? { sandbox_mode: 'workspace-write' } : {}
}

/** Lays a profile over the settings: the one that the command line names, or else the one that the configuration names. */
function withProfile(folder: string, table: Table, named: string | undefined): Table {
  const name = named ?? table['profile']
  if (typeof name !== 'string') return table
  const inFile = isTable(table['profiles']) && Object.hasOwn(table['profiles'], name) ? table['profiles'][name] : {}
  const path = join(folder, `${basename(name)}.config.toml`)
  const read = readTable(path)
  if (read !== undefined && 'fault' in read) throw new UserError('usage', read.fault)
  if (read === undefined && !(isTable(table['profiles']) && Object.hasOwn(table['profiles'], name)))
    throw new UserError('usage', `Codex's profile '${name}' is neither in ${path} nor in ${codexConfigFile(folder)}.`)
  return layOver(layOver(table, isTable(inFile) ? inFile : {}), read?.table ?? {})
}

function only(table: Table, keep: (key: string) => boolean): Table {
  return Object.fromEntries(Object.entries(table).filter(([key]) => keep(key)))
}

function invalid(place: Place, { path, why }: { readonly path: readonly string[]; readonly why: string }) {
  return ignoring(placeOf(place, path), [keyOf(path)], why)
}

/** Reads a file of Codex. Returns undefined if there is none. */
function readTable(
  path: string,
): { readonly text: string; readonly table: Table } | { readonly fault: string } | undefined {
  const text = readForeignText(path)
  if (text === undefined) return undefined
  if (typeof text !== 'string') return { fault: `${path}: ${text.reason}` }
  const table = tryParse(text, path)
  return table instanceof UserError ? { fault: table.message } : { text, table }
}

/**
 * Whether a setting can only make a run stricter than the defaults. Such settings are used even without an import; the user's own settings override
 * them. An undefined value stands for an invalid one, which may have been meant to do so.
 */
function tightens({ path, value }: Leaf): boolean {
  switch (keyOf(path)) {
    case 'sandbox_mode':
      return value === undefined || value === 'read-only'
    case 'shell_environment_policy.inherit':
      return value === undefined || value === 'none'
    case 'shell_environment_policy.exclude':
    case 'shell_environment_policy.include_only':
      return true
    default:
      return false
  }
}

function tryParse(text: string, path: string): Record<string, unknown> | UserError {
  try {
    return parseToml(text, path)
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}
