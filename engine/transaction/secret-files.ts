import { existsSync, lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { holdsSecret, namesSecret } from '../../policies/index.ts'
import {
  committedFiles,
  credentialPlaces,
  encodePath,
  encodeText,
  gitDirectoriesOf,
  homeDirectory,
  readHostFile,
} from '../../sandbox/index.ts'
import { pathOfKey } from '../core/changes/list-files.ts'
import { isInside } from '../core/directories-between.ts'
import { cleanFiles } from './clean-files.ts'
import { bytesOf, directoryOf, placeOf } from './path-keys.ts'

const atOnce = 200

/** The maximum size of a file whose content is looked at. Files with secrets are small. */
const largest = 1024 * 1024

/** Without a repository, nobody says which directories contain what was installed or built. */
const installed = /(?:^|\/)(?:node_modules|site-packages|\.venv|venv|__pycache__|target|\.cache)\//

/**
 * Finds the files of a tree that a view leaves out, because they hold secrets: those that git doesn't track and that have a secret's name, or, outside of ignored
 * directories, a secret's content; and other names of these files.
 *
 * @param keys the keys of the tree's files and links
 * @param shown the absolute paths that the user wants to show, with everything below them
 */
export async function findSecretFiles(
  tree: string,
  keys: Iterable<string>,
  shown: readonly string[],
): Promise<ReadonlySet<string>> {
  const apart = new Map<string, string[]>()
  const top = openRepository(tree, '')
  // A directory that contains the whole tree is shown for another reason.
  const within = shown.filter((path) => isInside(path, tree))
  const nested = new Map<string, string>()
  /** The nearest repository below the tree that contains a directory; empty if there is none. */
  const repositoryOf = (directory: string): string => {
    if (directory === '' || installed.test(`${directory}/`)) return ''
    const known = nested.get(directory)
    if (known !== undefined) return known
    const own = existsSync(placeOf(tree, `${directory}/.git`)) ? directory : repositoryOf(directoryOf(directory))
    nested.set(directory, own)
    return own
  }
  let looked = 0
  for (const key of keys) {
    if (++looked % atOnce === 0) await setImmediate()
    if (top.isTracked(key) || within.some((path) => isInside(join(tree, pathOfKey(key)), path))) continue
    const repository = repositoryOf(directoryOf(key))
    const own = apart.get(repository) ?? []
    own.push(key)
    apart.set(repository, own)
  }
  const found = new Set<string>()
  for (const [repository, untracked] of apart)
    await findIn(tree, repository, untracked, repository === '' ? top : openRepository(tree, repository), found)
  addOtherNames(tree, [...apart.values()].flat(), found)
  return found
}

/** Adds the secrets among files that the tree's own repository doesn't track. */
async function findIn(
  tree: string,
  repository: string,
  keys: readonly string[],
  { isTracked, holdsTracked, ignored }: Repository,
  found: Set<string>,
): Promise<void> {
  const prefix = repository === '' ? '' : `${repository}/`
  const byContent = new Map<string, string[]>()
  const atHome = new Set(namesAtHome())
  for (const key of keys) {
    const name = key.slice(prefix.length)
    if (repository !== '' && isTracked(name)) continue
    if (namesSecret(pathOfKey(key), atHome)) found.add(key)
    else {
      const outermost = outermostUntracked(name, holdsTracked)
      const own = byContent.get(outermost) ?? []
      own.push(key)
      byContent.set(outermost, own)
    }
  }
  const overlooked = ignored([...byContent.keys()].filter((directory) => directory !== ''))
  let looked = 0
  for (const [directory, own] of byContent) {
    if (overlooked.has(directory)) continue
    for (const key of own) {
      if (++looked % atOnce === 0) await setImmediate()
      if (isSecret(tree, key)) found.add(key)
    }
  }
}

/** The names of the files in which programs keep secrets at the top of a home directory: whoever keeps one in a project means the same by its name. */
function namesAtHome(): readonly string[] {
  const home = homeDirectory()
  const places = credentialPlaces().filter((path) => dirname(path) === home)
  return places.map((path) => basename(path).toLowerCase()).filter((name) => /^[._]/.test(name))
}

/** The outermost directory on the way to a file that contains no tracked file; empty if each directory does. */
function outermostUntracked(name: string, holdsTracked: (directory: string) => boolean): string {
  for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) {
    if (!holdsTracked(name.slice(0, at))) return name.slice(0, at)
  }
  return ''
}

function isSecret(tree: string, key: string): boolean {
  const content = readHostFile(placeOf(tree, key), { maxBytes: largest })
  return content !== undefined && !content.includes(0) && holdsSecret(pathOfKey(key), content.toString())
}

type Repository = {
  readonly isTracked: (name: string) => boolean
  /** Whether a directory contains tracked files. Without a repository, true for all in which a user writes. */
  readonly holdsTracked: (directory: string) => boolean
  /** Those of these directories that git ignores. */
  readonly ignored: (directories: readonly string[]) => ReadonlySet<string>
}

function openRepository(tree: string, key: string): Repository {
  const root = key === '' ? tree : join(tree, pathOfKey(key))
  const git = gitDirectoriesOf(root)
  if (git === undefined) {
    const holdsTracked = (directory: string): boolean => !installed.test(`${directory}/`)
    return { isTracked: () => false, holdsTracked, ignored: (directories) => new Set(directories) }
  }
  const asked = committedFiles(root, git, [tree])
  const { index } = cleanFiles(root)()
  const listed = (): readonly string[] => asked?.tracked().map((path) => encodeText(path).toString('latin1')) ?? []
  const isListed = index === undefined && existsSync(encodePath(join(git.own, 'index')))
  const tracked = new Set(isListed ? listed() : (index?.entries.map(({ path }) => path) ?? []))
  let directories: ReadonlySet<string> | undefined
  return {
    isTracked: (name) => tracked.has(name),
    holdsTracked: (directory) => (directories ??= directoriesOf(tracked)).has(directory),
    ignored: (names) => {
      if (names.length === 0) return new Set()
      const found = asked?.ignored(names.map((name) => pathOfKey(name))) ?? []
      return new Set(found.map((path) => encodeText(path).toString('latin1')))
    },
  }
}

function directoriesOf(files: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>()
  for (const file of files)
    for (let at = directoryOf(file); at !== '' && !found.has(at); at = directoryOf(at)) found.add(at)
  return found
}

/** Adds the other names of files with hard links. */
function addOtherNames(tree: string, keys: readonly string[], found: Set<string>): void {
  const inodeOf = (key: string): string | undefined => {
    const stats = lstatSync(bytesOf(tree, key), { throwIfNoEntry: false })
    return stats?.isFile() === true && stats.nlink > 1 ? `${stats.dev} ${stats.ino}` : undefined
  }
  const inodes = new Set([...found].map(inodeOf))
  inodes.delete(undefined)
  if (inodes.size > 0) for (const key of keys) if (inodes.has(inodeOf(key))) found.add(key)
}
