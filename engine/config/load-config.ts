import type { PermissionFile } from '../../policies/index.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { UserError } from '../core/user-error.ts'
import { excessOver } from './bounds.ts'
import { listForeignFiles } from './foreign-files.ts'
import { noForeignLayers, readForeignLayers } from './foreign/read-foreign.ts'
import { codexProfiles, type CodexDoor } from './foreign/codex-config.ts'
import { translateOverrides } from './foreign/codex-overrides.ts'
import { ignoring, type Ignored } from './ignored.ts'
import { fromLeaves, keyOf, leavesOf } from './leaves.ts'
import { merge, settingsOf, type Layer, type Origin } from './merge-layers.ts'
import { overrideLayer } from './overrides.ts'
import { readManagedFile, readOwnFiles } from './read-files.ts'
import { listProjectSettings, readProjectLayers, type Project } from './read-project.ts'
import { claudeModel } from './defaults.ts'
import { addCredentials } from './credentials.ts'
import { addServices } from './services.ts'
import type { Settings } from './settings-schema.ts'
import { PermissionLayers } from './permission-layers.ts'
import { isTrusted } from './is-trusted.ts'
import { placeOf } from './validate.ts'

/** The sources of a run's configuration. */
export type ConfigSources = {
  readonly places: AppPaths
  readonly project: Project
  /** The name of the profile to use, from `-p`. If undefined, the profile that the user's file names is used, if any. */
  readonly profile?: string | undefined
  /** Whether `--trust` was given. Default: false. */
  readonly trust?: boolean
  /** Whether `--isolated` was given. If so, the files with which the user and the repository configure a run are not used. */
  readonly isolated?: boolean
  /**
   * Whether settings of other programs are used only if the user imports them. If false (the default), those that make a run stricter are used
   * even without an import.
   */
  readonly onlyImported?: boolean
  /** Set if the command line is one for Codex: its `-c` and its configuration are then said in the words of this program. */
  readonly codex?: Omit<CodexDoor, 'root' | 'modeKey'> | undefined
  /** Set if the command line is one for Claude Code. `userConfig`: whether the user's settings of Claude Code count as imported. */
  readonly claude?: { readonly userConfig: boolean } | undefined
  /** The values of the `-c key=value` options, in the order given. */
  readonly overrides?: readonly string[]
  /** The `--add-dir` values: absolute paths that are writable in addition to the configured ones. */
  readonly addDirs?: readonly string[]
  /** The absolute paths of the `--allow-read` values, which are added to the configured ones. */
  readonly reads?: readonly string[]
  /** The `--service` values, which are added to the configured services. */
  readonly services?: readonly string[]
  /** The `--credential` values, which are added to the configured credentials. */
  readonly credentials?: readonly string[]
  /** Command-line flags that correspond to settings, each with the settings that it sets. */
  readonly flags?: readonly { readonly flag: string; readonly settings: Settings }[]
}

/** A run's configuration, and where each part of it comes from. */
export type Config = {
  readonly settings: Settings
  /** Whether the repository is trusted. If not, its settings and allow rules are ignored, but its deny and ask rules still apply. */
  readonly trusted: boolean
  /** Whether the user's and the repository's configuration is ignored: settings, rules, permissions, hooks, servers, skills, instructions. */
  readonly isolated: boolean
  /** Whether what the rule files of the user and the repository allow is ignored. */
  readonly ignoresRules: boolean
  /** Configuration that was found but is not used. */
  readonly ignored: readonly Ignored[]
  /** The layer that each key's value comes from, by key. */
  readonly origins: ReadonlyMap<string, Origin>
  /** The settings that the machine's owner fixed. */
  readonly managed: Settings
  /**
   * Environment variables for model requests, taken from another program's settings. Variables that are set in the actual environment override them.
   */
  readonly modelVariables: Readonly<Record<string, string>>
  /** The permission lists of all layers, which apply together. For every other setting, a later layer replaces the value of earlier ones. */
  readonly permissions: readonly PermissionFile[]
}

/**
 * Merges a run's configuration from the machine's file, the settings of the user's other programs, the user's file, the profile, the files of the
 * repository if it is trusted, `-c`, and flags. Later sources win. The machine's file bounds all others, and the user's settings, including those on
 * the command line, bound the repository's. If a file's setting exceeds a bound, that setting is ignored and listed. If a command-line option does,
 * that is an error, because the user expects it to work.
 *
 * @throws UserError `usage`, naming the file or option and, where this applies, the line, the key and the expected value
 */
export function loadConfig(sources: ConfigSources): Config {
  const { places, project, addDirs = [], reads = [], services = [], credentials = [], codex } = sources
  const given = sources.overrides ?? []
  const isModeSaid = (sources.flags ?? []).some(({ settings }) => settings.sandbox_mode !== undefined)
  const {
    overrides,
    ignored: meaningless,
    modeKey,
  }: ReturnType<typeof translateOverrides> = codex === undefined
    ? { overrides: given, ignored: [] }
    : translateOverrides(given, {
        strict: codex.strict,
        workspace: project.workspace,
        profiles: codex.userConfig ? codexProfiles(places.codex, codex) : {},
        isModeSaid,
      })
  const lists = new PermissionLayers(project.workspace)
  const { isolated = false } = sources
  const files = isolated ? readManagedFile(places) : readOwnFiles(places, sources.profile)
  const { trust } = files
  const managed = lists.take(files.managed)
  const user = lists.take(files.user)
  const profile = files.profile === undefined ? undefined : lists.take(files.profile)
  const trusted = !isolated && isTrusted(project.root, { ...trust, flag: sources.trust === true })

  const ignored: Ignored[] = [...meaningless]
  const bounded = (layer: Layer, bound: Layer | Settings, preferences: boolean): Layer => {
    const kept = keepWithin(layer, bound, preferences)
    ignored.push(...kept.ignored)
    return kept.layer
  }
  const own = [user, ...(profile === undefined ? [] : [profile])].map((layer) => bounded(layer, managed, true))
  const flags = (sources.flags ?? []).map(({ flag, settings }): Layer => ({ kind: 'flag', name: flag, settings }))
  const above = (below: readonly Layer[]): readonly Layer[] => {
    const set = overrides.length === 0 ? [] : [overrideLayer(settingsOf(merge(below)), overrides)]
    const known = settingsOf(merge([...below, ...set]))
    const roots = known.sandbox_workspace_write?.writable_roots ?? []
    return [
      ...set,
      ...(addDirs.length === 0 ? [] : [addingRoots(roots, addDirs)]),
      ...(reads.length === 0 ? [] : [addingReads(known.sandbox_read, reads)]),
      ...(services.length === 0 ? [] : [addingServices(known.services, services)]),
      ...(credentials.length === 0 ? [] : [addingCredentials(known.credentials, credentials)]),
      ...(codex?.userConfig === true ? [importing('codex', known.import)] : []),
      ...(sources.claude?.userConfig === true ? [importing('claude', known.import)] : []),
      ...flags,
    ]
  }

  const imports = settingsOf(merge([managed, ...own, ...above([managed, ...own])])).import ?? []
  if (isolated && imports.length > 0) throw new UserError('usage', importsNothing)
  const isForeignRead = !isolated && (sources.onlyImported !== true || imports.length > 0)
  const door = codex && { ...codex, root: project.root, modeKey: modeKey ?? (isModeSaid ? 'sandbox_mode' : undefined) }
  const foreign = isForeignRead ? readForeignLayers(places, project, { imports, trusted, door }) : noForeignLayers
  ignored.push(...foreign.ignored)
  const defaults = [
    ...(codex === undefined ? [] : [codexDefaults]),
    ...(sources.claude === undefined ? [] : [claudeDefaults]),
  ]
  const users = [...[...defaults, ...foreign.user].map((layer) => bounded(lists.take(layer), managed, true)), ...own]

  const brought = isolated ? nothing : broughtBy(project, trusted)
  ignored.push(...brought.ignored)
  const said = settingsOf(merge([...users, ...above([managed, ...users])]))
  const projects = [...foreign.project, ...brought.layers].map((layer) =>
    bounded(bounded(lists.take(layer), managed, true), said, false),
  )

  const below = [managed, ...users, ...projects]
  const commandLine = above(below).map((layer) => lists.take(layer))
  for (const layer of commandLine) refuseBeyond(layer, managed)
  const origins = merge([...below, ...commandLine])
  return {
    settings: settingsOf(origins),
    trusted,
    isolated,
    ignoresRules: codex?.rules === false,
    ignored,
    origins,
    managed: managed.settings,
    modelVariables: foreign.modelVariables,
    permissions: lists.taken,
  }
}

const importsNothing =
  "'import' reads your own configuration files, but --isolated ignores all of them. Remove one of the two, or pass the settings with -c."

/** What a repository contributes to the configuration: the layers of its settings, and a list of what is ignored. */
type Brought = { readonly layers: readonly Layer[]; readonly ignored: readonly Ignored[] }

const nothing: Brought = { layers: [], ignored: [] }

function broughtBy(project: Project, trusted: boolean): Brought {
  const own = trusted ? readProjectLayers(project) : { layers: [], ignored: listProjectSettings(project) }
  return { layers: own.layers, ignored: [...own.ignored, ...listForeignFiles(project)] }
}

function addingRoots(roots: readonly string[], directories: readonly string[]): Layer {
  const settings = { sandbox_workspace_write: { writable_roots: [...roots, ...directories] } }
  return { kind: 'flag', name: '--add-dir', settings }
}

function addingReads(configured: Settings['sandbox_read'], paths: readonly string[]): Layer {
  const settings = { sandbox_read: { allow: [...(configured?.allow ?? []), ...paths] } }
  return { kind: 'flag', name: '--allow-read', settings }
}

function addingServices(configured: readonly string[] = [], given: readonly string[]): Layer {
  return { kind: 'flag', name: '--service', settings: { services: [...addServices(configured, given)] } }
}

function addingCredentials(configured: Settings['credentials'], given: readonly string[]): Layer {
  return { kind: 'flag', name: '--credential', settings: { credentials: addCredentials(configured, given) } }
}

function importing(program: 'codex' | 'claude', configured: Settings['import'] = []): Layer {
  return { kind: 'flag', name: `agent ${program}`, settings: { import: [...new Set([...configured, program])] } }
}

/** What Codex does by default and this program doesn't. */
const codexDefaults: Layer = { kind: 'imported', name: 'agent codex', settings: { sandbox_mode: 'read-only' } }

/** The model if neither the user nor the command line names one, since a client of Claude's has a key of Anthropic. */
const claudeDefaults: Layer = { kind: 'imported', name: 'agent claude', settings: { model: claudeModel } }

/** Removes from a layer the settings that exceed a bound. */
function keepWithin(
  layer: Layer,
  bound: Layer | Settings,
  preferences: boolean,
): { readonly layer: Layer; readonly ignored: readonly Ignored[] } {
  const limits = 'kind' in bound ? bound.settings : bound
  const excess = excessOver(limits, layer.settings, preferences)
  if (excess.length === 0) return { layer, ignored: [] }
  const gone = new Set(excess.map(({ path }) => keyOf(path)))
  const kept = leavesOf(layer.settings).filter(({ path }) => !gone.has(keyOf(path)))
  const reason = 'kind' in bound ? `${bound.name} fixes it` : 'it exceeds a bound that the user set'
  return {
    layer: { ...layer, settings: fromLeaves(kept) },
    ignored: ignoring(layer.name, [...gone], reason),
  }
}

function refuseBeyond(layer: Layer, managed: Layer): void {
  const [excess] = excessOver(managed.settings, layer.settings, true)
  if (excess === undefined) return
  const limit = placeOf(managed, excess.limit)
  const what = layer.kind === '-c' ? `-c ${keyOf(excess.path)}` : layer.name
  throw new UserError(
    'usage',
    `${what}: exceeds the bound that ${limit} sets with ${keyOf(excess.limit)}. Ask for less, or leave it out.`,
  )
}
