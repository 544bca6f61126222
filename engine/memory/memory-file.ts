import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makeDirectories } from '../../sandbox/index.ts'
import { textOf } from '../tools/files/text.ts'
import { directoriesBetween, isInside } from '../core/directories-between.ts'
import { readPlainBytes } from '../core/read-plain-file.ts'
import type { MemoryPlaces } from './read-memory.ts'

/** Where a note applies: in this repository for everyone, or in all repositories for this user. */
type MemoryScope = 'project' | 'user'

/** An instruction file that a note can be added to. */
type MemoryFile = {
  /** The real path of the file. */
  readonly path: string
  /** The real path of the directory that must contain the file. */
  readonly root: string
  /** The file's text; undefined if the file doesn't exist yet. */
  readonly text: string | undefined
}

/**
 * The names of files that notes are added to, in order of preference. The first name is used for a new file. Notes are never added to
 * `.claude/CLAUDE.md` or `CLAUDE.local.md`.
 */
const noteNames = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'] as const
/** The name of a file that, if it has content, is used in place of `AGENTS.md`. */
const overrideName = 'AGENTS.override.md'

/** The size limit of a file, in bytes. Longer files are never given to a model, so nothing is added to them. */
const maxBytes = 1024 * 1024

/**
 * Finds the file for notes. For a repository, it is the nearest instruction file on the way from the workspace up to the root; if there is none,
 * `AGENTS.md` in the root. For the user, it is an instruction file in the user's configuration folder; a missing folder is created. A link is
 * followed only if it leads to a file with the name of an instruction file within the same root or folder.
 *
 * @returns the file and its text, or why nothing can be added to it
 */
export function findMemoryFile(scope: MemoryScope, places: MemoryPlaces): MemoryFile | { readonly problem: string } {
  if (scope === 'user') makeDirectories(places.user)
  const [top, directories] =
    scope === 'user'
      ? [places.user, [places.user]]
      : [places.root, directoriesBetween(places.root, places.workspace).toReversed()]
  const root = realpathSync(top)
  const named = directories
    .flatMap((directory) => [overrideName, ...noteNames].map((name) => join(directory, name)))
    .find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined && !isIdleOverride(path))
  if (named === undefined) return { path: join(root, noteNames[0]), root, text: undefined }
  if (!existsSync(named)) return { problem: `${named} is a link to a file that doesn't exist.` }
  const path = realpathSync(named)
  if (!isInside(path, root))
    return { problem: `${named} links to ${path}, which is outside ${root}, so nothing is added to it.` }
  if (![overrideName, ...noteNames].some((name) => name === basename(path))) {
    return { problem: `${named} links to ${path}, which is not an instruction file, so nothing is added to it.` }
  }
  const bytes = readPlainBytes(path, maxBytes)
  if ('reason' in bytes) return { problem: `Nothing can be added to ${path}: ${bytes.reason}.` }
  const text = textOf(bytes)
  return text === undefined
    ? { problem: `Nothing can be added to ${path}: it is not UTF-8 text.` }
    : { path, root, text }
}

/** Whether a path is an empty or unreadable `AGENTS.override.md`. It gets no notes: with content, it would replace the `AGENTS.md` next to it. */
function isIdleOverride(path: string): boolean {
  if (basename(path) !== overrideName) return false
  const bytes = readPlainBytes(path, maxBytes)
  return 'reason' in bytes || (textOf(bytes) ?? '').trim() === ''
}
