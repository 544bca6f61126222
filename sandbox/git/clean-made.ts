import { realpathSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { decodeName, encodePath, pathBytes } from '../path-bytes.ts'
import { isHarmless } from './config-clean.ts'
import { parseConfigFile, writeConfigFile } from './config-file.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { replaceFile } from './replace-file.ts'
import { parseIndex } from './index-file.ts'
import { importableState, stateDirectories, todoList } from './operation-state.ts'

/** Moves an entry to a place where no program of the host finds it. Returns its new path; undefined if it no longer existed. */
type TakeAway = (path: string) => string | undefined

/** Removed entries, or those changed in place. */
type Cleaned = { readonly path: string; readonly to: string | undefined }

const largest = 4 * 1024 * 1024
const largestIndex = 1024 * 1024 * 1024

/**
 * Cleans a repository that commands have made, or an incomplete one, so that git runs nothing because of it: its config keeps only data, hooks are
 * removed except for samples, and so is every link or setting that leads elsewhere.
 *
 * @param root a directory that contains the repository, and that no command can have replaced
 * @param git its directory
 * @param isKnown whether a directory is one of the host's repositories, or a clean one
 */
export function cleanMadeRepository(
  root: string,
  git: string,
  take: TakeAway,
  isKnown: (path: string) => boolean,
): readonly Cleaned[] {
  const cleaned: Cleaned[] = []
  const away = (name: string): void => {
    const path = `${git}/${decodeName(name)}`
    const to = take(path)
    if (to !== undefined) cleaned.push({ path, to })
  }
  const held = holdBelow(root, git)
  if (held === undefined) return cleaned
  try {
    // Git makes no link, pipe or device here; it only looks for `config` and `hooks` under these names.
    for (const name of [...(held.names('') ?? []), 'info/attributes', 'objects/info', 'objects/pack']) {
      const kind = held.stat(name)?.kind
      if (kind === 'link' || kind === 'other') away(name)
    }
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

/** Rewrites a config that contains anything but data; false if it was fine. */
function cleanConfig(held: HeldDirectory, name: string): boolean {
  if (held.stat(name) === undefined) return false
  const text = held.read(name, largest)?.toString('latin1')
  const entries = text === undefined ? undefined : parseConfigFile(text)
  const kept = (entries ?? []).filter(isHarmless)
  if (entries !== undefined && kept.length === entries.length) return false
  replace(held, name, writeConfigFile(kept))
  return true
}

function cleanState(held: HeldDirectory, directory: string, away: (name: string) => void): void {
  for (const name of held.names(directory) ?? []) {
    const path = `${directory}/${name}`
    const content = held.read(path, largest)
    const text = content?.toString('latin1')
    if (text === undefined || content === undefined) away(path)
    else if (/todo/.test(name)) {
      const plain = todoList(text)
      if (plain === undefined) away(path)
      else if (plain !== text) replace(held, path, plain)
    } else if (importableState(path, content, 20) === undefined && importableState(path, content, 32) === undefined)
      away(path)
  }
}

/** Writes a new file in place of another by a rename, because the other file may have a second name elsewhere. */
function replace(held: HeldDirectory, name: string, text: string): void {
  const directory = held.hold(dirname(name))
  if (directory === undefined) return
  try {
    replaceFile(directory, basename(name), Buffer.from(text, 'latin1'))
  } finally {
    directory.close()
  }
}

/** Recognises the form that `git worktree add` writes: it names the repository that contains this directory. */
function isWorktreeOf(git: string, held: HeldDirectory, isKnown: (path: string) => boolean): boolean {
  return (
    held.read('commondir', 64)?.toString('latin1') === '../..\n' &&
    basename(dirname(git)) === 'worktrees' &&
    isKnown(dirname(dirname(git)))
  )
}

/**
 * Keeps alternates that are the objects of the host's or of clean repositories, by plain paths. A clone of a private repository names the path at
 * which that repository sees the host's objects.
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
  const text = held.read(name, largest)?.toString('utf8') ?? '\n'
  const lines = text.split('\n').filter((line) => line !== '')
  const plain = lines.map((line) => resolve(`${git}/objects`, line).replace(/\/portcullis\/objects$/, '/objects'))
  const isObjects = (path: string): boolean => basename(path) === 'objects' && isKnown(dirname(path))
  if (text === '\n' || !plain.every((path) => isPlain('/', path, isObjects))) return away(name)
  const wanted = [...new Set(plain)].map((path) => `${path}\n`).join('')
  if (wanted !== text) replace(held, name, Buffer.from(wanted, 'utf8').toString('latin1'))
}

/**
 * Whether a file called `.git` that a command made is in the form that git itself writes: byte by byte, with a path without links to a repository
 * that is the host's or clean.
 */
export function isPlainGitFile(root: string, link: string, isKnown: (path: string) => boolean): boolean {
  const held = holdBelow(root, dirname(link))
  if (held === undefined) return false
  try {
    const named = /^gitdir: ([^\0-\x1f\x7f]+)\n$/.exec(held.read('.git', 4096)?.toString('utf8') ?? '')?.[1]
    return basename(link) === '.git' && named !== undefined && isPlain(dirname(link), named, isKnown)
  } finally {
    held.close()
  }
}

/** Whether a path has the same meaning as text and with its links resolved, and is known. */
function isPlain(from: string, named: string, isKnown: (path: string) => boolean): boolean {
  try {
    const plain = resolve(from, named)
    // U+FFFD stands for invalid bytes.
    if (named.includes('\ufffd') || named !== named.trim() || plain.startsWith('/proc/')) return false
    return realpathSync.native(named.startsWith('/') ? named : `${from}/${named}`) === plain && isKnown(plain)
  } catch {
    return false
  }
}

/** Opens a directory component by component, so that none of them can be a link. */
function holdBelow(root: string, path: string): HeldDirectory | undefined {
  try {
    const top = holdDirectory(encodePath(root))
    try {
      return top.hold(pathBytes(relative(root, path)).toString('latin1'))
    } finally {
      top.close()
    }
  } catch {
    // Removed in the meantime, or no longer a directory.
    return undefined
  }
}
