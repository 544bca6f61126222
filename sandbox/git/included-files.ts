import { basename, dirname } from 'node:path'
import { homes } from '../homes.ts'
import { decodeText, encodePath } from '../path-bytes.ts'
import { realpathSync } from '../host-paths.ts'
import { withoutSecrets } from './config-clean.ts'
import { parseConfigFile, type ConfigEntry } from './config-file.ts'
import { isInclude } from './global-config.ts'
import { holdDirectory } from './held-directory.ts'

/** A configuration file that another one includes. Its path has no symlinks. */
type IncludedFile = {
  readonly path: string
  /** The file's settings, as far as they can be read. */
  readonly entries: readonly ConfigEntry[]
  /** Whether the whole file could be read. It may be too large, or not a configuration file. */
  readonly isWhole: boolean
}

const largest = 4 * 1024 * 1024

/**
 * Finds the files that settings include, directly or through other included files. An include counts even if its condition doesn't hold now, because
 * commands could still read the included file.
 *
 * @param own the settings of the files with which the search starts
 * @param directory the directory of these files
 * @param expand lets git expand a path that begins with `~USER/` or `%(prefix)/`; undefined if git can't
 */
export function includedFiles(
  own: readonly ConfigEntry[],
  directory: string,
  expand: (path: string) => string | undefined,
): readonly IncludedFile[] {
  const found = new Map<string, IncludedFile>()
  const visited = new Set<string>()
  const open = pathsOf(own, directory, expand)
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (visited.has(path)) continue
    visited.add(path)
    const file = readIncluded(path)
    if (file === undefined) continue
    found.set(file.path, file)
    // Git resolves a relative path against the path by which it reached the including file, even if that path is a symlink.
    open.push(...pathsOf(file.entries, dirname(path), expand))
  }
  return [...found.values()]
}

/** Whether commands must not see an included file, because it contains secrets, or because it can't be read and may contain some. */
export function mustBeHidden({ entries, isWhole }: IncludedFile): boolean {
  return !isWhole || withoutSecrets(entries.filter((entry) => !isInclude(entry))).lost
}

function pathsOf(
  entries: readonly ConfigEntry[],
  directory: string,
  expand: (path: string) => string | undefined,
): string[] {
  return entries.filter(isInclude).flatMap(({ value = '' }) => {
    if (value === '' || value.includes('\0')) return []
    if (value.startsWith('/')) return [value]
    if (value.startsWith('~/')) return homes().map((home) => home + value.slice(1))
    if (value.startsWith('~') || value.startsWith('%(prefix)/')) return expand(value) ?? []
    // The path isn't normalized, because `..` after a symlink leads to the parent of the symlink's target.
    return [`${directory}/${value}`]
  })
}

function readIncluded(path: string): IncludedFile | undefined {
  const target = readTarget(path)
  if (target === undefined) return undefined
  const text = target.content === undefined ? '' : decodeText(target.content)
  const entries = target.content === undefined ? undefined : parseConfigFile(text)
  return { path: target.path, entries: entries ?? readableSettings(text), isWhole: entries !== undefined }
}

/** The settings in those lines of a damaged config file that can be read. The files that these settings name may still contain secrets. */
export function readableSettings(text: string): readonly ConfigEntry[] {
  let header = ''
  return text.split('\n').flatMap((line) => {
    if (parseConfigFile(line) !== undefined && line.trimStart().startsWith('[')) header = line
    return parseConfigFile(line.trimStart().startsWith('[') ? line : `${header}\n${line}`)?.slice(-1) ?? []
  })
}

/**
 * Reads a regular file, after following symlinks. The content is undefined if the file is too large. The result is undefined if there is no such file,
 * or if it is out of reach, which makes it unreadable for commands too.
 *
 * The path in the result has no symlinks.
 */
export function readTarget(path: string): { readonly path: string; readonly content: Buffer | undefined } | undefined {
  try {
    const real = realpathSync(path)
    const directory = holdDirectory(encodePath(dirname(real)))
    try {
      if (directory.stat(basename(real))?.kind !== 'file') return undefined
      return { path: real, content: directory.read(basename(real), largest) }
    } finally {
      directory.close()
    }
  } catch {
    return undefined
  }
}
