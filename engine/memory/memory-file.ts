import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makeDirectories } from '../../sandbox/index.ts'
import { textOf } from '../tools/files/text.ts'
import { directoriesBetween, isInside } from '../core/directories-between.ts'
import { readPlainBytes } from '../core/read-plain-file.ts'
import type { MemoryPlaces } from './read-memory.ts'

/** The scope: the repository, or the user in all repositories. */
type MemoryScope = 'project' | 'user'

/** A file of instructions that a note can be added to. */
type MemoryFile = {
  /** Real path. */
  readonly path: string
  /** The real path of the directory that it must stay in. */
  readonly root: string
  /** Undefined: it is not there yet. */
  readonly text: string | undefined
}

/** Names of files that notes are added to, the first one for a new file. Private files of one person and nested ones are left alone. */
const noteNames = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'] as const
/** Replaces the first, where it has content. */
const overrideName = 'AGENTS.override.md'

/** Longer files are not told to a model, so nothing is added to them. */
const maxBytes = 1024 * 1024

/**
 * Finds the file for notes: in a repository the nearest one, from the workspace up to the root, else `AGENTS.md` in the root; for the user
 * the one in their configuration folder, which is made where it is missing. A link is followed to another such file within the same root,
 * and no further.
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
  if (!existsSync(named)) return { problem: `${named} is a link that leads nowhere.` }
  const path = realpathSync(named)
  if (!isInside(path, root)) return { problem: `${named} leads to ${path}, outside ${root}, so it is not written.` }
  if (![overrideName, ...noteNames].some((name) => name === basename(path))) {
    return { problem: `${named} leads to ${path}, which is no file of instructions, so it is not written.` }
  }
  const bytes = readPlainBytes(path, maxBytes)
  if ('reason' in bytes) return { problem: `Nothing can be added to ${path}: ${bytes.reason}.` }
  const text = textOf(bytes)
  return text === undefined
    ? { problem: `Nothing can be added to ${path}: it is not UTF-8 text.` }
    : { path, root, text }
}

/** An empty override leaves the file next to it in force; a note in it would replace that file. */
function isIdleOverride(path: string): boolean {
  if (basename(path) !== overrideName) return false
  const bytes = readPlainBytes(path, maxBytes)
  return 'reason' in bytes || (textOf(bytes) ?? '').trim() === ''
}
