import { statSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import process from 'node:process'
import { expandHome, homes } from '../homes.ts'
import { readHostFile } from '../host-files.ts'
import type { Mount } from '../mount.ts'
import { decodeText, encodePath, encodeText } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { randomName } from '../random-name.ts'
import { withoutSecrets } from './config-clean.ts'
import { keyOf, parseConfigFile, writeConfigFile, type ConfigEntry } from './config-file.ts'

/** The user's and the machine's git configuration, in the form that commands see. */
type GlobalConfig = {
  /** Files that contain secrets, and for each of them a copy without the secrets. */
  readonly replaced: readonly Mount[]
  /** The configuration files that exist, with those that they include. */
  readonly files: readonly string[]
  /** Configuration files from which the secrets can't be removed, and the files with keys, cookies and credentials that the configuration names. */
  readonly hidden: readonly string[]
}

type CachedConfig = {
  readonly stamp: string
  readonly replaced: readonly Mount[]
  readonly hidden: readonly string[]
  readonly includes: readonly string[]
}

const largest = 4 * 1024 * 1024
/** How many levels of nested includes git follows (config.c). */
const deepest = 10

/**
 * Returns a function that finds secrets in git's configuration outside repositories: headers, credentials, and `insteadOf` URLs that contain a token.
 * Commands see each file without its secrets. Included files are treated in the same way.
 *
 * @param directory the run's own directory, where the cleaned copies are stored
 * @param rewritten the beginnings of addresses that only the sandbox's own settings may rewrite
 * @param roots the writable roots: a file in them that contains secrets is hidden instead, because commands could replace it with a link
 */
export function createGlobalConfig(
  directory: string,
  roots: readonly string[],
  rewritten: readonly string[],
): () => GlobalConfig {
  const known = new Map<string, CachedConfig>()
  const look = (path: string): CachedConfig | undefined => {
    const stamp = stampOf(path)
    if (stamp === undefined) return undefined
    const before = known.get(path)
    if (before?.stamp === stamp) return before
    const seen = { stamp, ...read(path, directory, roots, rewritten) }
    known.set(path, seen)
    return seen
  }
  return () => {
    const [replaced, hidden] = [new Map<string, Mount>(), new Set<string>()]
    const visited = new Set<string>()
    // Files that an earlier call found are examined again, even if no file seems to include them any more.
    let level: readonly string[] = [...globalFiles(), ...known.keys()]
    for (let depth = 0; depth < deepest && level.length > 0; depth += 1) {
      const next: string[] = []
      for (const path of level) {
        if (visited.has(path)) continue
        const seen = look(path)
        if (seen === undefined) continue
        visited.add(path)
        for (const mount of seen.replaced) replaced.set(mount.path, mount)
        for (const file of seen.hidden) hidden.add(file)
        next.push(...seen.includes)
      }
      level = next
    }
    return { files: [...visited], replaced: [...replaced.values()], hidden: [...hidden] }
  }
}

function globalFiles(): readonly string[] {
  const { GIT_CONFIG_GLOBAL: named, XDG_CONFIG_HOME: config, GIT_CONFIG_SYSTEM: system } = process.env
  const own = ['~/.gitconfig', '~/.config/git/config'].flatMap((path) => expandHome(path))
  const moved = config !== undefined && isAbsolute(config) ? [join(config, 'git/config')] : []
  return [...own, ...moved, named, system ?? '/etc/gitconfig'].filter(
    (path): path is string => path !== undefined && isAbsolute(path),
  )
}

function read(
  path: string,
  directory: string,
  roots: readonly string[],
  rewritten: readonly string[],
): Omit<CachedConfig, 'stamp'> {
  if (statSync(encodePath(path), { throwIfNoEntry: false })?.isFile() !== true)
    return { replaced: [], hidden: [], includes: [] }
  const content = readHostFile(encodePath(path), { maxBytes: largest, follow: true })
  const entries = content && parseConfigFile(decodeText(content))
  // The secrets in a file can't be found if it is too large or if git would reject it, so commands see nothing of such a file.
  if (entries === undefined) return { replaced: [], hidden: [path], includes: [] }
  const clean = entries.map((entry) =>
    isInclude(entry) ? { kept: [entry], lost: false } : withoutSecrets([entry], rewritten),
  )
  const includes = entries.filter(isInclude).flatMap(({ value }) => pathsIn(value ?? '', dirname(path)))
  const hidden = keyFilesOf(entries, dirname(path))
  if (!clean.some(({ lost }) => lost)) return { replaced: [], hidden, includes }
  if (roots.some((root) => isWithin(path, root))) return { replaced: [], hidden: [...hidden, path], includes }
  const source = join(directory, `config-${randomName(4)}`)
  const kept = writeConfigFile(clean.flatMap((each) => each.kept))
  writeFileSync(source, encodeText(kept), { flag: 'wx', mode: 0o644 })
  return { replaced: [{ path, source, as: 'replaced-file' }], hidden, includes }
}

/** Whether a setting names another configuration file. */
export function isInclude(entry: ConfigEntry): boolean {
  return entry.name === 'path' && (entry.section === 'include' || entry.section === 'includeif')
}

/** The files with credentials, cookies, certificates and keys that settings name. */
export function keyFilesOf(entries: readonly ConfigEntry[], base: string): readonly string[] {
  return entries.flatMap((entry) => {
    const [key, value] = [keyOf(entry), entry.value ?? '']
    if (/^http\.(?:.*\.)?(?:sslkey|sslcert|proxysslkey|proxysslcert|cookiefile)$/s.test(key))
      return pathsIn(value, base)
    if (/^core\.sshcommand$/.test(key)) return wordsAfter(/(?:^|\s)-i\s*("[^"]+"|'[^']+'|\S+)/g, value, base)
    if (/^credential\.(?:.*\.)?helper$/s.test(key)) return wordsAfter(/--file[= ]("[^"]+"|'[^']+'|\S+)/g, value, base)
    return []
  })
}

function wordsAfter(pattern: RegExp, text: string, base: string): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, word = '']) => pathsIn(word.replace(/^(["'])(.*)\1$/, '$2'), base))
}

function pathsIn(value: string, base: string): readonly string[] {
  if (value === '' || value.includes('\0')) return []
  return value.startsWith('~/') ? expandHome(value, homes()) : [isAbsolute(value) ? value : join(base, value)]
}

function stampOf(path: string): string | undefined {
  try {
    // Most of these files don't exist, and creating an error takes longer than checking first.
    const stat = statSync(encodePath(path), { bigint: true, throwIfNoEntry: false })
    // The change time is used too, because nobody can set it. Anybody can set the modification time.
    return stat && `${stat.dev}:${stat.ino}:${stat.mtimeNs}:${stat.ctimeNs}:${stat.size}`
  } catch {
    // This program can't reach the file, so commands can't read it either.
    return undefined
  }
}
