import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  loadPermissions,
  loadRules,
  RuleError,
  shippedRules,
  withoutAllowingRules,
  withoutAllows,
  type IdleRule,
  type LeftOut,
  type PermissionFile,
  type PermissionSet,
  type RuleFile,
  type RuleSet,
} from '../../policies/index.ts'
import { ignoredWhole, ignoring, type Ignored } from './ignored.ts'
import type { Config } from './load.ts'
import type { Project } from './read-project.ts'
import { directoriesBetween } from '../core/paths.ts'
import type { Places } from '../core/places.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'

/** Where a run's rules and permissions come from. */
type PolicySources = {
  readonly places: Places
  readonly home: string
  readonly project: Project
  /** Whether what the repository allows counts; what it forbids or asks about always does. */
  readonly config: Pick<Config, 'trusted' | 'permissions'>
  /** Paths of further rule files, named on a command line. */
  readonly ruleFiles?: readonly string[]
}

/** What a Guardian decides by, of all files together. */
export type Policies = {
  readonly rules: RuleSet
  readonly permissions: PermissionSet
  /** What was found and does not count. */
  readonly ignored: readonly Ignored[]
}

/** No rule or settings file of a repository is longer. */
const maxBytes = 1024 * 1024

const notTrusted = 'this repository is not trusted, so only what it forbids or asks about holds'

/**
 * The rules and permissions of a run: ours, the machine's, the user's, the repository's, and files named on a command line.
 * All count, and the strictest answer wins whosever it is.
 *
 * @throws UserError `usage` with `file:line:column` for any error in any file: a run with a part of its rules missing
 *   would be a run under other rules
 */
export function readPolicies({ places, home, project, config, ruleFiles = [] }: PolicySources): Policies {
  const folders = directoriesBetween(project.root, project.workspace)
  const leftOut: LeftOut[] = []
  // A stranger's file that is broken, or none, stops nobody; nothing in it counts then.
  const brought = <File extends BroughtFile>(files: readonly File[]): readonly (File & { readonly text: string })[] =>
    config.trusted ? files.map(plain) : files.flatMap((file) => tryPlain(file, leftOut))
  const settings = brought(folders.flatMap((folder) => settingsIn(folder))).map((file) => ({
    ...file,
    untrusted: !config.trusted,
  }))
  try {
    const projectRules = brought(folders.flatMap((folder) => rulesIn(join(folder, '.portcullis'), 'project')))
    const rules = loadRules([
      shippedRules(),
      ...rulesIn(places.managed, 'managed'),
      ...rulesIn(places.config, 'user'),
      ...ruleFiles.map((path) => ({ path, layer: 'user' as const })),
      ...(config.trusted ? projectRules : soundRules(projectRules, leftOut)),
    ])
    const files = [
      ...managedSettings(places.managedClaude).map((path) => ({ path, layer: 'managed' as const })),
      ...present(join(home, '.claude', 'settings.json')).map((path) => ({ path, layer: 'user' as const })),
      ...present(join(places.config, 'permissions.json')).map((path) => ({ path, layer: 'user' as const })),
      ...config.permissions,
      ...settings,
    ]
    const loaded = loadPermissions(files, (what) => void leftOut.push(what))
    const notes = leftOut.flatMap(({ path, what, why }) =>
      what === '' ? [ignoredWhole(path, why)] : ignoring(path, [what], why),
    )
    const permissions: PermissionSet = { ...loaded, base: project.workspace, realPath: followLinks }
    if (config.trusted) return { rules, permissions, ignored: notes }
    const kept = { rules: withoutAllowingRules(rules, 'project'), permissions: withoutAllows(permissions, 'project') }
    const dropped = [
      ...settings.map(({ path, text }) => ({ path, keys: otherKeys(text) })),
      ...kept.permissions.dropped.map(({ path, text }) => ({ path, keys: [`permissions.allow ${text}`] })),
      ...kept.rules.dropped.map(({ path, text }) => ({ path, keys: [text] })),
    ]
    const paths = [...new Set(dropped.map(({ path }) => path))]
    return {
      rules: kept.rules.kept,
      permissions: kept.permissions.kept,
      ignored: [
        ...notes,
        ...paths.flatMap((path) =>
          ignoring(
            path,
            dropped.filter((one) => one.path === path).flatMap(({ keys }) => keys),
            notTrusted,
          ),
        ),
      ],
    }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError('usage', describeRuleError(error), { cause: error })
  }
}

/** A rule that can't do anything as one line: `file:line: what is wrong`. */
export function describeIdleRule({ path, line, message }: IdleRule): string {
  return `${path}:${line}: ${message}`
}

/** A rule error as one line: `file:line:column: what is wrong; what was expected`. */
export function describeRuleError({ path, line, column, message, expected }: RuleError): string {
  return `${path}:${line}:${column}: ${message}; expected ${expected}`
}

function rulesIn(folder: string, layer: RuleFile['layer']): readonly RuleFile[] {
  const directory = join(folder, 'rules')
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names
    .filter((name) => name.endsWith('.rules'))
    .toSorted()
    .map((name) => ({ path: join(directory, name), layer }))
}

/** Claude Code's settings in a folder of the repository. */
function settingsIn(folder: string): readonly PermissionFile[] {
  return ['settings.json', 'settings.local.json'].flatMap((name) =>
    present(join(folder, '.claude', name)).map((path) => ({ path, layer: 'project' as const })),
  )
}

/** What an organisation sets for Claude Code: its file, then those in the folder beside it in the order of their names. */
function managedSettings(folder: string): readonly string[] {
  const more = join(folder, 'managed-settings.d')
  const names = existsSync(more) ? readdirSync(more).filter((name) => /^[^.].*\.json$/.test(name)) : []
  return [...present(join(folder, 'managed-settings.json')), ...names.toSorted().map((name) => join(more, name))]
}

/** Of rule files of a stranger those that can be read; the others are told of. */
function soundRules(files: readonly (RuleFile & { readonly text: string })[], leftOut: LeftOut[]): readonly RuleFile[] {
  return files.filter((file) => {
    try {
      loadRules([file])
      return true
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      const why = `it can't be read, so nothing in it has an effect: ${error.line}:${error.column}: ${error.message}`
      leftOut.push({ path: file.path, what: '', why })
      return false
    }
  })
}

function present(path: string): readonly string[] {
  return existsSync(path) ? [path] : []
}

type BroughtFile = { readonly path: string }

function tryPlain<File extends BroughtFile>(
  file: File,
  leftOut: LeftOut[],
): readonly (File & { readonly text: string })[] {
  const text = readPlainFile(file.path, maxBytes)
  if (typeof text === 'string') return [{ ...file, text }]
  leftOut.push({ path: file.path, what: '', why: `it can't be read, so nothing in it has an effect: ${text.reason}` })
  return []
}

/** A file with its text, read so that what a stranger put there can't hold us up or lead elsewhere. */
function plain<File extends BroughtFile>(file: File): File & { readonly text: string } {
  const text = readPlainFile(file.path, maxBytes)
  if (typeof text === 'string') return { ...file, text }
  throw new UserError('usage', `${file.path}:1:1: ${text.reason}; expected a plain file that holds settings or rules`)
}

/** What else a settings file says; none of it counts without trust. */
function otherKeys(text: string): readonly string[] {
  try {
    const settings: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    return typeof settings === 'object' && settings !== null
      ? Object.keys(settings).filter((key) => key !== 'permissions')
      : []
  } catch {
    // Left out as a whole, and told so already.
    return []
  }
}

/** The path with its existing part freed of links. */
function followLinks(path: string): string {
  for (let at = path, rest = ''; ; rest = join(basename(at), rest), at = dirname(at)) {
    try {
      return join(realpathSync(at), rest)
    } catch {
      // Not there, or not to be entered: what is above it may be.
      if (at === dirname(at)) return path
    }
  }
}
