import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LeftOut, PermissionFile, RuleFile } from '../../policies/index.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import { claudeSettingsFile } from './foreign/claude-settings.ts'
import { readForeignText } from './foreign/read-text.ts'

/** No rule or settings file of a repository is longer. */
const maxBytes = 1024 * 1024
/** Of another program's rule files, those that are read. */
const mostFiles = 200

/**
 * The rule files of a folder, in the order of their names.
 *
 * @param leftOut told where they can't be listed. Absent: that is an error
 * @throws UserError `usage` where they can't be listed
 */
export function rulesIn(folder: string, layer: RuleFile['layer'], leftOut?: LeftOut[]): readonly RuleFile[] {
  const directory = join(folder, 'rules')
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.rules'))
    return names.toSorted().map((name) => ({ path: join(directory, name), layer }))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Below a home that is no folder there are no rules; rules that are themselves a file are a mistake.
    if (code === 'ENOENT' || (code === 'ENOTDIR' && !existsSync(directory))) return []
    if (leftOut === undefined)
      throw new UserError('usage', `${directory}: can't be listed: ${message}`, { cause: error })
    leftOut.push({ path: directory, what: '', why: `it can't be listed: ${message}` })
    return []
  }
}

/** Claude Code's settings in a folder of the repository. */
export function settingsIn(folder: string): readonly PermissionFile[] {
  return ['settings.json', 'settings.local.json'].flatMap((name) =>
    present(join(folder, '.claude', name)).map((path) => ({ path, layer: 'project' as const })),
  )
}

/**
 * The user's, for Claude Code and for us.
 *
 * @throws UserError `usage` where the first is there and can't be read: what it forbids would be lost
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

/** What an organisation sets for Claude Code: its file, then those in the folder beside it in the order of their names. */
export function managedSettings(folder: string): readonly string[] {
  const more = join(folder, 'managed-settings.d')
  const names = existsSync(more) ? readdirSync(more).filter((name) => /^[^.].*\.json$/.test(name)) : []
  return [...present(join(folder, 'managed-settings.json')), ...names.toSorted().map((name) => join(more, name))]
}

/**
 * Codex's rule files: the user's, and those in each folder of the repository. Nothing in them stops a run: of a broken one what restricts and
 * can be understood holds, and the rest is told.
 *
 * @param root the repository's: its files must really lie in it
 */
export function foreignRules(
  home: string,
  root: string,
  folders: readonly string[],
  leftOut: LeftOut[],
): readonly RuleFile[] {
  const read = (folder: string, layer: RuleFile['layer'], within?: string): readonly RuleFile[] => {
    const codex = join(folder, '.codex')
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
  return [...read(home, 'user'), ...folders.flatMap((folder) => read(folder, 'project', root))]
}

/** A rule file of which what is wrong is told, and the rest of what restricts holds. */
export function tolerant(file: RuleFile, leftOut: LeftOut[]): RuleFile {
  return {
    ...file,
    tolerate: ({ line, column, message }) =>
      void leftOut.push({
        path: `${file.path}:${line}:${column}`,
        what: '',
        why: `${message}; what restricts in the rest of the file holds, what allows does not`,
      }),
  }
}

function present(path: string): readonly string[] {
  return existsSync(path) ? [path] : []
}

/** A file that a repository brings along. */
export type BroughtFile = { readonly path: string }

/** The same, with a word on what can't be read in place of an error. */
export function tryPlain<File extends BroughtFile>(
  file: File,
  leftOut: LeftOut[],
): readonly (File & { readonly text: string })[] {
  const text = readPlainFile(file.path, maxBytes)
  if (typeof text === 'string') return [{ ...file, text }]
  leftOut.push({ path: file.path, what: '', why: `it can't be read, so nothing in it has an effect: ${text.reason}` })
  return []
}

/** A file with its text, read so that what a stranger put there can't hold us up or lead elsewhere. */
export function plain<File extends BroughtFile>(file: File): File & { readonly text: string } {
  const text = readPlainFile(file.path, maxBytes)
  if (typeof text === 'string') return { ...file, text }
  throw new UserError('usage', `${file.path}:1:1: ${text.reason}; expected a plain file that holds settings or rules`)
}
