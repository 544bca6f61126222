import { basename, dirname, relative, resolve } from 'node:path'
import { decodeText, encodePath, encodeText } from '../path-bytes.ts'
import { realpathSync } from '../host-paths.ts'
import { parseAlternates, writeAlternates } from './alternates.ts'
import { isHarmless } from './config-clean.ts'
import { parseConfigFile, writeConfigFile } from './config-file.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { replaceFile } from './replace-file.ts'
import { parseIndex } from './index-file.ts'
import { importableState, stateDirectories, todoList } from './operation-state.ts'

/** Moves an entry to a place where no program on the host finds it. Returns its new path; undefined if the entry no longer existed. */
type TakeAway = (path: string) => string | undefined

/** An entry that was moved to `to`, or changed in place if `to` is undefined. */
type Cleaned = { readonly path: string; readonly to: string | undefined }

const largest = 4 * 1024 * 1024
const largestIndex = 1024 * 1024 * 1024

/**
 * Cleans a repository that commands created, even an incomplete one, so that git runs nothing because of it. The config keeps only settings that
 * can't make git run a program. Symlinks, pipes, devices, hooks (except samples), and index and state files that aren't understood are removed, and so
 * are references to other repositories, unless `isKnown` accepts these.
 *
 * @param root a directory that contains the repository, and that no command can have replaced
 * @param git the repository's directory
 * @param isKnown whether a directory is one of the host's repositories, or one that has been cleaned
 */
export function cleanMadeRepository(
  root: string,
  git: string,
  take: TakeAway,
  isKnown: (path: string) => boolean,
): readonly Cleaned[] {
  const cleaned: Cleaned[] = []
  const away = (name: string): void => {
    const path = `${git}/${name}`
    const to = take(path)
    if (to !== undefined) cleaned.push({ path, to })
  }
  const held = holdBelow(root, git)
  if (held === undefined) return cleaned
  try {
    // Git itself creates no symlinks, pipes or devices in these places, so any that are found are moved away.
    for (const name of [...(held.names('') ?? []), 'info/attributes', 'objects/info', 'objects/pack']) {
      const kind = held.stat(name)?.kind
      if (kind === 'link' || kind === 'other') away(name)
    }
    // Git looks for its config and its hooks only under these names.
    for (const name of ['config', 'config.worktree'])
      if (cleanConfig(held, name)) cleaned.push({ path: `${git}/${name}`, to: undefined })
    if (held.stat('hooks')?.kind !== 'directory') {
      if (held.stat('hooks') !== undefined) away('hooks')
    } else for (const name of held.names('hooks') ?? []) if (!name.endsWith('.sample')) away(`hooks/${name}`)
    if (held.stat('commondir') !== undefined && !isWorktreeOf(git, held, isKnown)) away('commondir')
    cleanAlternates(git, held, away, isKnown)
    const index = held.stat('index') === undefined ? undefined : held.read('index', largestIndex)
    if (index !== undefined && ![20, 32].some((oidBytes) => parseIndex(index, oidBytes) !== undefined)) away('index')
    for (const directory of stateDirectories.filter((name) => /^re(?!fs)|^seq/.test(name)))
      cleanState(held, directory, away)
  } finally {
    held.close()
  }
  return cleaned
}

/** Removes all settings from a config file except those that can't make git run a program. Returns false if there was nothing to change. */
function cleanConfig(held: HeldDirectory, name: string): boolean {
  if (held.stat(name) === undefined) return false
  const text = held.text(name, largest)
  const entries = text === undefined ? undefined : parseConfigFile(text)
  const kept = (entries ?? []).filter(isHarmless)
  if (entries !== undefined && kept.length === entries.length) return false
  replace(held, name, encodeText(writeConfigFile(kept)))
  return true
}

function cleanState(held: HeldDirectory, directory: string, away: (name: string) => void): void {
  for (const name of held.names(directory) ?? []) {
    const path = `${directory}/${name}`
    const content = held.read(path, largest)
    const text = content && decodeText(content)
    if (text === undefined || content === undefined) away(path)
    else if (/todo/.test(name)) {
      const plain = todoList(text)
      if (plain === undefined) away(path)
      else if (plain !== text) replace(held, path, encodeText(plain))
    } else if (importableState(path, content, 20) === undefined && importableState(path, content, 32) === undefined)
      away(path)
  }
}

/** Replaces a file by writing a new one and renaming it. The old file isn't changed, because it may be a hard link to a file elsewhere. */
function replace(held: HeldDirectory, name: string, content: Buffer): void {
  const directory = held.hold(dirname(name))
  if (directory === undefined) return
  try {
    replaceFile(directory, basename(name), content)
  } finally {
    directory.close()
  }
}

/**
 * Whether `git` is the directory of a linked worktree: its `commondir` must be as `git worktree add` writes it, and lead to a repository that
 * `isKnown` accepts.
 */
function isWorktreeOf(git: string, held: HeldDirectory, isKnown: (path: string) => boolean): boolean {
  return (
    held.text('commondir', 64) === '../..\n' && basename(dirname(git)) === 'worktrees' && isKnown(dirname(dirname(git)))
  )
}

/**
 * Removes the alternates unless all of them are plain paths to the objects of the host's repositories or of cleaned repositories. In a clone of a
 * private repository, the alternate is the path at which the private repository sees the host's objects. That path is replaced by the host's own
 * path.
 */
function cleanAlternates(
  git: string,
  held: HeldDirectory,
  away: (name: string) => void,
  isKnown: (path: string) => boolean,
): void {
  if (held.stat('objects/info/http-alternates') !== undefined) away('objects/info/http-alternates')
  const name = 'objects/info/alternates'
  if (held.stat(name) === undefined) return
  const content = held.read(name, largest)
  const plain = parseAlternates(content).map((path) =>
    resolve(`${git}/objects`, path).replace(/\/portcullis\/objects$/, '/objects'),
  )
  const isObjects = (path: string): boolean => basename(path) === 'objects' && isKnown(dirname(path))
  if (content === undefined || !plain.every((path) => isPlain('/', path, isObjects))) return away(name)
  const wanted = writeAlternates([...new Set(plain)])
  if (!wanted.equals(content)) replace(held, name, wanted)
}

/**
 * Whether a `.git` file that a command created has exactly the form that git itself writes, byte by byte. The path in the file must lead to one of
 * the host's repositories or to a cleaned repository, and must not contain symlinks.
 */
export function isPlainGitFile(root: string, link: string, isKnown: (path: string) => boolean): boolean {
  const held = holdBelow(root, dirname(link))
  if (held === undefined) return false
  try {
    const named = /^gitdir: ([^\0-\x1f\x7f]+)\n$/.exec(held.text('.git', 4096) ?? '')?.[1]
    return basename(link) === '.git' && named !== undefined && isPlain(dirname(link), named, isKnown)
  } finally {
    held.close()
  }
}

/** Whether a path contains no symlinks and is accepted by `isKnown`. */
function isPlain(from: string, named: string, isKnown: (path: string) => boolean): boolean {
  try {
    const plain = resolve(from, named)
    if (named !== named.trim() || plain.startsWith('/proc/')) return false
    return realpathSync(named.startsWith('/') ? named : `${from}/${named}`) === plain && isKnown(plain)
  } catch {
    return false
  }
}

/** Opens a directory component by component, so that none of them can be a symlink. */
function holdBelow(root: string, path: string): HeldDirectory | undefined {
  try {
    const top = holdDirectory(encodePath(root))
    try {
      return top.hold(relative(root, path))
    } finally {
      top.close()
    }
  } catch {
    // The directory was removed in the meantime, or is no longer a directory.
    return undefined
  }
}
