import type { PermissionFile } from '../../policies/index.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { UserError } from '../core/user-error.ts'
import { excessOver } from './bounds.ts'
import { listForeignFiles } from './foreign-files.ts'
import { noForeignLayers, readForeignLayers } from './foreign/read-foreign.ts'
import { ignoring, type Ignored } from './ignored.ts'
import { fromLeaves, keyOf, leavesOf } from './leaves.ts'
import { merge, settingsOf, type Layer, type Origin } from './merge-layers.ts'
import { overrideLayer } from './overrides.ts'
import { readManagedFile, readOwnFiles } from './read-files.ts'
import { listProjectSettings, readProjectLayers, type Project } from './read-project.ts'
import type { Settings } from './settings-schema.ts'
import { PermissionLayers } from './permission-layers.ts'
import { isTrusted } from './is-trusted.ts'
import { placeOf } from './validate.ts'

/** Where a run's configuration comes from. */
export type ConfigSources = {
  readonly places: AppPaths
  readonly project: Project
  /** `-p`; undefined: the profile that the user's file names, if it does. */
  readonly profile?: string | undefined
  /** `--trust` was given. */
  readonly trust?: boolean
  /** `--isolated` was given: nothing of the user's or the repository's is used. */
  readonly isolated?: boolean
  /** Whether other programs' files are used only where they are imported. Default: false, so they may make a run stricter. */
  readonly onlyImported?: boolean
  /** `-c key=value` texts in the given order. */
  readonly overrides?: readonly string[]
  /** `--add-dir`: absolute paths that are writable besides the configured ones. */
  readonly addDirs?: readonly string[]
  /** Other flags that set settings, and their values. */
  readonly flags?: readonly { readonly flag: string; readonly settings: Settings }[]
}

/** A run's configuration, and how it came about. */
export type Config = {
  readonly settings: Settings
  /** Whether to use what the repository brings along: its configuration, rules and permissions. */
  readonly trusted: boolean
  /** Whether nothing of the user's or the repository's is used: settings, rules, permissions, hooks, servers, skills, instructions. */
  readonly isolated: boolean
  /** Configuration that was found but is ignored. */
  readonly ignored: readonly Ignored[]
  /** Each key in force that somebody set, with its source. */
  readonly origins: ReadonlyMap<string, Origin>
  /** What the machine's owner fixed. */
  readonly managed: Settings
  /** Variables that another program's settings set for model requests. Those of the environment win. */
  readonly modelVariables: Readonly<Record<string, string>>
  /** The permission lists of every layer: they add up, where other settings replace each other. */
  readonly permissions: readonly PermissionFile[]
}

/**
 * Merges a run's configuration: machine, other programs of the user, user, profile, the repository's own where it is trusted, `-c`, flags;
 * later ones win. The machine's file bounds everybody, the user's bounds the repository's. A setting of a file that exceeds a bound is
 * ignored and listed; on the command line it is an error, since somebody expects it to work.
 *
 * @throws UserError `usage`, naming the file or option, the line, the key, and what was expected there
 */
export function loadConfig(sources: ConfigSources): Config {
  const { places, project, overrides = [], addDirs = [] } = sources
  const lists = new PermissionLayers(project.workspace)
  const { isolated = false } = sources
  const files = isolated ? readManagedFile(places) : readOwnFiles(places, sources.profile)
  const { trust } = files
  const managed = lists.take(files.managed)
  const user = lists.take(files.user)
  const profile = files.profile === undefined ? undefined : lists.take(files.profile)
  const trusted = !isolated && isTrusted(project.root, { ...trust, flag: sources.trust === true })

  const ignored: Ignored[] = []
  const bounded = (layer: Layer, bound: Layer | Settings, preferences: boolean): Layer => {
    const kept = keepWithin(layer, bound, preferences)
    ignored.push(...kept.ignored)
    return kept.layer
  }
  const own = [user, ...(profile === undefined ? [] : [profile])].map((layer) => bounded(layer, managed, true))
  const flags = (sources.flags ?? []).map(({ flag, settings }): Layer => ({ kind: 'flag', name: flag, settings }))
  const above = (below: readonly Layer[]): readonly Layer[] => {
    const set = overrides.length === 0 ? [] : [overrideLayer(settingsOf(merge(below)), overrides)]
    const roots = settingsOf(merge([...below, ...set])).sandbox_workspace_write?.writable_roots ?? []
    return [...set, ...(addDirs.length === 0 ? [] : [addingRoots(roots, addDirs)]), ...flags]
  }

  const imports = settingsOf(merge([managed, ...own, ...above([managed, ...own])])).import ?? []
  if (isolated && imports.length > 0) throw new UserError('usage', importsNothing)
  const isForeignRead = !isolated && (sources.onlyImported !== true || imports.length > 0)
  const foreign = isForeignRead ? readForeignLayers(places, project, { imports, trusted }) : noForeignLayers
  ignored.push(...foreign.ignored)
  const users = [...foreign.user.map((layer) => bounded(layer, managed, true)), ...own]

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
    ignored,
    origins,
    managed: managed.settings,
    modelVariables: foreign.modelVariables,
    permissions: lists.taken,
  }
}

const importsNothing =
  "'import' lets files of yours count, and --isolated lets none of them: drop one of the two, or say the settings with -c."

/** A repository's settings, and the ignored ones among them. */
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

/** A layer without what exceeds a bound. */
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
  const reason = 'kind' in bound ? `${bound.name} fixes it` : 'it goes beyond what the user’s own configuration fixes'
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
    `${what}: goes beyond what ${limit} fixes with ${keyOf(excess.limit)}. Ask for less, or leave it out.`,
  )
}
