import { realpathSync } from 'node:fs'
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
  type PermissionSet,
  type RuleOrigin,
  type RuleSet,
} from '../../policies/index.ts'
import { claudeSettingsFile } from './foreign/claude-settings.ts'
import { ignoredWhole, ignoring, type Ignored } from './ignored.ts'
import type { Config } from './load-config.ts'
import {
  foreignRules,
  managedSettings,
  ownSettings,
  plain,
  rulesIn,
  settingsIn,
  tolerant,
  tryPlain,
  type BroughtFile,
} from './policy-files.ts'
import type { Project } from './read-project.ts'
import { directoriesBetween } from '../core/directories-between.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { UserError } from '../core/user-error.ts'

/** The sources of a run's rules and permissions. */
type PolicySources = {
  readonly places: AppPaths
  readonly home: string
  readonly project: Project
  /**
   * The run's configuration. It determines, for example, whether the repository's allow rules are used. The repository's deny and ask rules are used
   * unless the run is isolated.
   */
  readonly config: Pick<Config, 'settings' | 'trusted' | 'isolated' | 'permissions'> &
    Partial<Pick<Config, 'ignoresRules'>>
  /** Paths of additional rule files, from the command line. */
  readonly ruleFiles?: readonly string[]
  /** Files that replace the user's own rules and permission lists. Undefined: the user's own files are read. */
  readonly inPlace?: {
    readonly rules?: readonly string[] | undefined
    readonly permissions?: readonly string[] | undefined
  }
}

/** The rules and permissions by which the Guardian decides, merged from all files. */
export type Policies = {
  readonly rules: RuleSet
  readonly permissions: PermissionSet
  /** Configuration that was found but is ignored. */
  readonly ignored: readonly Ignored[]
}

const notTrusted = 'this repository is not trusted, so only its deny and ask rules apply'

/**
 * Reads the rules and permissions of a run: the built-in ones, those of the machine, the user, the repository and other programs, and files named on
 * the command line. All of them apply, and the strictest answer wins, no matter which file it comes from. Files of other programs can always make the
 * answer stricter. They can allow something only if the user's `import` names the program, or if they belong to a trusted repository or to the owner
 * of the machine.
 *
 * @throws UserError `usage` with `file:line:column` for an error in a rule file of this program or in a file with permission lists, because a run
 *   must not start with only a part of its rules. Errors in files of an untrusted repository are only reported, and so are permissions that aren't
 *   understood, if they allow something or come from a repository
 */
export function readPolicies({ places, home, project, config, ruleFiles = [], inPlace }: PolicySources): Policies {
  const { isolated, trusted } = config
  const imports = config.settings.import ?? []
  const folders = isolated ? [] : directoriesBetween(project.root, project.workspace)
  const leftOut: LeftOut[] = []
  // A file of an untrusted repository must not stop the run, so it is left out if it can't be read.
  const brought = <File extends BroughtFile>(files: readonly File[]): readonly (File & { readonly text: string })[] =>
    trusted ? files.map(plain) : files.flatMap((file) => tryPlain(file, leftOut))
  const settings = brought(folders.flatMap((folder) => settingsIn(folder))).map((file) => ({
    ...file,
    untrusted: !trusted,
  }))
  try {
    const projectRules = brought(
      folders.flatMap((folder) => rulesIn(join(folder, '.portcullis'), 'project', trusted ? undefined : leftOut)),
    )
    const foreign = isolated ? [] : foreignRules(places.codex, project.root, folders, leftOut)
    const rules = loadRules([
      shippedRules(),
      ...rulesIn(places.managed, 'managed'),
      ...userFiles(inPlace?.rules, () => (isolated ? [] : rulesIn(places.config, 'user'))),
      ...ruleFiles.map((path) => ({ path, layer: 'user' as const })),
      ...(trusted ? projectRules : projectRules.map((file) => tolerant(file, leftOut))),
      ...foreign,
    ])
    const files = [
      ...managedSettings(places.managedClaude).map((path) => ({ path, layer: 'managed' as const })),
      ...userFiles(inPlace?.permissions, () => (isolated ? [] : ownSettings(places, home))),
      ...config.permissions,
      ...settings,
    ]
    const loaded = loadPermissions(files, (what) => void leftOut.push(what))
    const notes = leftOut.flatMap(({ path, what, why }) =>
      what === '' ? [ignoredWhole(path, why)] : ignoring(path, [what], why),
    )
    const all: PermissionSet = { ...loaded, base: project.workspace, realPath: followLinks }
    const own = claudeSettingsFile(home)
    const codex = foreign.filter(({ layer }) => layer === 'user').map(({ path }) => path)
    const reasonAgainst = ({ layer, path }: RuleOrigin): string | undefined => {
      if (config.ignoresRules === true && path.endsWith('.rules') && (layer === 'project' || layer === 'user'))
        return 'with --ignore-rules, only the deny and ask rules of this file apply'
      if (layer === 'project') return trusted ? undefined : notTrusted
      if (path === own && !imports.includes('claude')) return notImported('claude')
      return codex.includes(path) && !imports.includes('codex') ? notImported('codex') : undefined
    }
    const may = (origin: RuleOrigin): boolean => reasonAgainst(origin) !== undefined
    const kept = { rules: withoutAllowingRules(rules, may), permissions: withoutAllows(all, may) }
    const strange = trusted
      ? []
      : settings.map(({ path, text }) => ({ path, keys: otherKeys(text), reason: notTrusted }))
    const allows = [
      ...kept.permissions.dropped.map(({ origin, text }) => ({ origin, key: `permissions.allow ${text}` })),
      ...kept.rules.dropped.map(({ origin, text }) => ({ origin, key: text })),
    ].map(({ origin, key }) => ({ path: origin.path, keys: [key], reason: reasonAgainst(origin) ?? '' }))
    return {
      rules: kept.rules.kept,
      permissions: kept.permissions.kept,
      ignored: [...notes, ...together([...strange, ...allows])],
    }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError('usage', describeRuleError(error), { cause: error })
  }
}

/** Returns the files that the command line names in place of the user's own; if it names none, the user's own files. */
function userFiles<File>(
  named: readonly string[] | undefined,
  own: () => readonly File[],
): readonly (File | { readonly path: string; readonly layer: 'user' })[] {
  return named?.map((path) => ({ path, layer: 'user' as const })) ?? own()
}

type Dropped = { readonly path: string; readonly keys: readonly string[]; readonly reason: string }

/** Merges the entries that name the same file into one entry with all of their keys. */
function together(dropped: readonly Dropped[]): readonly Ignored[] {
  return [...new Set(dropped.map(({ path }) => path))].flatMap((path) => {
    const own = dropped.filter((one) => one.path === path)
    const keys = own.flatMap((one) => one.keys)
    return ignoring(path, keys, own[0]?.reason ?? '')
  })
}

const notImported = (program: string): string =>
  `this file belongs to another program: its deny and ask rules apply, but its allow rules apply only with import = ["${program}"] in your own configuration`

/** Describes, in one line, a rule that has no effect: `file:line: message`. */
export function describeIdleRule({ path, line, message }: IdleRule): string {
  return `${path}:${line}: ${message}`
}

/** Describes a rule error in one line: `file:line:column: message; expected …`. */
export function describeRuleError({ path, line, column, message, expected }: RuleError): string {
  return `${path}:${line}:${column}: ${message}; expected ${expected}`
}

/** Lists all keys of a settings file except `permissions`. If the repository isn't trusted, none of these settings is used. */
function otherKeys(text: string): readonly string[] {
  try {
    const settings: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    return typeof settings === 'object' && settings !== null
      ? Object.keys(settings).filter((key) => key !== 'permissions')
      : []
  } catch {
    // A file that isn't valid JSON is left out as a whole, which has already been reported.
    return []
  }
}

/** Resolves the links in the part of a path that exists. */
function followLinks(path: string): string {
  for (let at = path, rest = ''; ; rest = join(basename(at), rest), at = dirname(at)) {
    try {
      return join(realpathSync(at), rest)
    } catch {
      // The path is missing or inaccessible, but its parent may not be.
      if (at === dirname(at)) return path
    }
  }
}
