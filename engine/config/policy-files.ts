import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LeftOut, PermissionFile, RuleFile } from '../../policies/index.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { readPlainFile } from '../core/read-plain-file.ts'
import { UserError } from '../core/user-error.ts'
import { claudeSettingsFile } from './foreign/claude-settings.ts'
import { readForeignText } from './foreign/read-text.ts'

/** The longest rule or settings file of a repository that is read. */
const maxBytes = 1024 * 1024
/** The rule files of another program that are read. */
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
 * The user's, for Claude Code and for this program.
 *
 * @throws UserError `usage` where the first exists and can't be read: its denials would be lost
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

/** An organisation's settings for Claude Code: its file, then those in the folder next to it, by name. */
export function managedSettings(folder: string): readonly string[] {
  const more = join(folder, 'managed-settings.d')
  const names = existsSync(more) ? readdirSync(more).filter((name) => /^[^.].*\.json$/.test(name)) : []
  return [...present(join(folder, 'managed-settings.json')), ...names.toSorted().map((name) => join(more, name))]
}

/**
 * Codex's rule files: the user's, and those in each folder of the repository. No content of theirs stops a run: of a broken file the
 * restrictions that can be understood apply, and the rest is reported.
 *
 * @param root the repository's: its files must really be in it
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

/** A rule file whose faults are reported; its remaining restrictions apply. */
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

/** A file from the repository. */
export type BroughtFile = { readonly path: string }

/** The same, with a note about what can't be read instead of an error. */
export function tryPlain<File extends BroughtFile>(
  file: File,
  leftOut: LeftOut[],
): readonly (File & { readonly text: string })[] {
  const text = readPlainFile(file.path, maxBytes)
  if (typeof text === 'string') return [{ ...file, text }]
  leftOut.push({ path: file.path, what: '', why: `it can't be read, so nothing in it has an effect: ${text.reason}` })
  return []
}

/** A file with its text, read so that untrusted content can't block us or lead elsewhere. */
export function plain<File extends BroughtFile>(file: File): File & { readonly text: string } {
  const text = readPlainFile(file.path, maxBytes)
  if (typeof text === 'string') return { ...file, text }
  throw new UserError('usage', `${file.path}:1:1: ${text.reason}; expected a plain file that holds settings or rules`)
}
