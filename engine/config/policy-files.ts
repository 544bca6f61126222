import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LeftOut, PermissionFile, RuleFile } from '../../policies/index.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import { claudeSettingsFile } from './foreign/claude-settings.ts'
import { ruleFileNames } from './rule-file-names.ts'
import { readForeignText } from './foreign/read-text.ts'

/** The size limit for a rule or settings file of a repository, in bytes. */
const maxBytes = 1024 * 1024
/** The maximum number of Codex's rule files that are read from one folder. */
const mostFiles = 200

/**
 * Lists the rule files in the `rules` directory of a folder, sorted by name.
 *
 * @param leftOut receives a note if the directory can't be listed, or if a file has a name that isn't UTF-8. Absent: the function throws instead
 * @throws UserError `usage` if the directory can't be listed, or a file has a name that isn't UTF-8, and `leftOut` is absent
 */
export function rulesIn(folder: string, layer: RuleFile['layer'], leftOut?: LeftOut[]): readonly RuleFile[] {
  const directory = join(folder, 'rules')
  try {
    const refuse = (why: string): void => {
      if (leftOut === undefined) throw new UserError('usage', `${directory}: ${why}`)
      leftOut.push({ path: directory, what: '', why })
    }
    return ruleFileNames(directory, refuse).map((name) => ({ path: join(directory, name), layer }))
  } catch (error) {
    if (error instanceof UserError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    // If `rules` or its parent doesn't exist, or the parent isn't a directory, there are no rules. If `rules` is a file, that is reported as a mistake.
    if (code === 'ENOENT' || (code === 'ENOTDIR' && !existsSync(directory))) return []
    if (leftOut === undefined)
      throw new UserError('usage', `${directory}: can't be listed: ${message}`, { cause: error })
    leftOut.push({ path: directory, what: '', why: `it can't be listed: ${message}` })
    return []
  }
}

/** Lists Claude Code's settings files in a folder of the repository. */
export function settingsIn(folder: string): readonly PermissionFile[] {
  return ['settings.json', 'settings.local.json'].flatMap((name) =>
    present(join(folder, '.claude', name)).map((path) => ({ path, layer: 'project' as const })),
  )
}

/**
 * Lists the files that contain the user's permission lists: Claude Code's settings file and this program's `permissions.json`, if they exist.
 *
 * @throws UserError `usage` if Claude Code's file exists but can't be read: its denials would otherwise be lost
 */
export function ownSettings(places: AppPaths, home: string): readonly PermissionFile[] {
  const claude = claudeSettingsFile(home)
  const text = readForeignText(claude)
  if (typeof text === 'object') throw new UserError('usage', `${claude}:1:1: ${text.reason}; expected a plain file`)
  return [
    ...(text === undefined ? [] : [{ path: claude, layer: 'user' as const, text }]),
    ...present(join(places.config, 'permissions.json')).map((path) => ({ path, layer: 'user' as const })),
  ]
}

/** Lists an organization's settings files for Claude Code: first its main file, then the files in the folder next to it, sorted by name. */
export function managedSettings(folder: string): readonly string[] {
  const more = join(folder, 'managed-settings.d')
  const names = existsSync(more) ? readdirSync(more).filter((name) => /^[^.].*\.json$/.test(name)) : []
  return [...present(join(folder, 'managed-settings.json')), ...names.toSorted().map((name) => join(more, name))]
}

/**
 * Returns Codex's rule files: the user's, and those in each folder of `folders`. Their content never stops a run: errors in a file are reported. Of
 * the valid rules in a file with errors, those that restrict commands apply, and those that allow commands do not.
 *
 * @param home the folder of the user's Codex
 * @param root the repository's root; rule files that are outside it when links are followed are not read
 */
export function foreignRules(
  home: string,
  root: string,
  folders: readonly string[],
  leftOut: LeftOut[],
): readonly RuleFile[] {
  const read = (codex: string, layer: RuleFile['layer'], within?: string): readonly RuleFile[] => {
    const files = rulesIn(codex, layer, leftOut)
    if (files.length > mostFiles) {
      const why = `only ${mostFiles} of its ${files.length} rule files are read`
      leftOut.push({ path: join(codex, 'rules'), what: '', why })
    }
    return files.slice(0, mostFiles).flatMap(({ path }) => {
      const text = readForeignText(path, { within })
      if (typeof text === 'string') return [tolerant({ path, layer, text }, leftOut)]
      if (text !== undefined) leftOut.push({ path, what: '', why: text.reason })
      return []
    })
  }
  return [...read(home, 'user'), ...folders.flatMap((folder) => read(join(folder, '.codex'), 'project', root))]
}

/**
 * Returns a rule file whose errors are added to `leftOut` instead of thrown. If there are any, its valid rules that restrict commands still apply,
 * and those that allow commands do not.
 */
export function tolerant(file: RuleFile, leftOut: LeftOut[]): RuleFile {
  return {
    ...file,
    tolerate: ({ line, column, message }) =>
      void leftOut.push({
        path: `${file.path}:${line}:${column}`,
        what: '',
        why: `${message}; of the other rules in the file, those that restrict commands apply, and those that allow commands do not`,
      }),
  }
}

function present(path: string): readonly string[] {
  return existsSync(path) ? [path] : []
}

/** A file that came with the repository. */
export type BroughtFile = { readonly path: string }

/**
 * Reads a file and returns it, with its text, as the only element of a list. If the file can't be read, reports that in `leftOut` and returns an
 * empty list.
 */
export function tryPlain<File extends BroughtFile>(
  file: File,
  leftOut: LeftOut[],
): readonly (File & { readonly text: string })[] {
  const text = readPlainFile(file.path, maxBytes)
  if (typeof text === 'string') return [{ ...file, text }]
  leftOut.push({ path: file.path, what: '', why: `it is not used, because it can't be read: ${text.reason}` })
  return []
}

/**
 * Returns a file with its text. A named pipe or a link in the file's place is refused, never waited on or followed, because anyone who can change the
 * repository could have put it there.
 *
 * @throws UserError `usage` if the file can't be read or is longer than `maxBytes`
 */
export function plain<File extends BroughtFile>(file: File): File & { readonly text: string } {
  const text = readPlainFile(file.path, maxBytes)
  if (typeof text === 'string') return { ...file, text }
  throw new UserError(
    'usage',
    `${file.path}:1:1: ${text.reason}; expected a plain file that contains settings or rules`,
  )
}
