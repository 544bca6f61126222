import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { expandHome, homes } from '../homes.ts'
import { isInclude, keyFilesOf } from './global-config.ts'
import { withoutSecrets } from './config-clean.ts'
import { entryOf, keyOf, parseConfigFile, writeConfigFile, type ConfigEntry } from './config-file.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'

/** A repository's config in the form that commands see. */
export type ShownConfig = {
  /** The contents of the config files, by path. */
  readonly texts: ReadonlyMap<string, string>
  readonly entries: ReadonlyMap<string, readonly ConfigEntry[]>
  /** All settings on the host, including secrets. They are needed to find the files that the settings name. */
  readonly whole: readonly ConfigEntry[]
  /** Included files with secrets, and key files that the config names: commands must not see these files. */
  readonly secretFiles: readonly string[]
  /** Whether secrets or includes were removed from the config files. */
  readonly lost: boolean
}

const largest = 4 * 1024 * 1024

/**
 * Reads a repository's config from the host and removes secrets. Git itself resolves the includes, because it understands their conditions. Returns
 * undefined if git couldn't read the config.
 *
 * @param names the config files: `config`, and those of the work trees that have their own
 * @param isOverlay whether the work tree is on a mounted overlayfs
 */
export function readShownConfig(
  git: string,
  host: HeldDirectory,
  hostGit: HostGit,
  names: readonly string[],
  isOverlay = false,
): ShownConfig | undefined {
  const [texts, entries] = [new Map<string, string>(), new Map<string, readonly ConfigEntry[]>()]
  const whole: ConfigEntry[] = []
  const secretFiles: string[] = []
  let lost = false
  for (const name of names) {
    const content = host.read(name, largest)
    if (content === undefined && name !== 'config') continue
    const own = parseConfigFile(content?.toString('latin1') ?? '')
    if (own === undefined) return undefined
    const resolved = own.some(isInclude) ? resolveIncludes(git, host, hostGit, name, own, secretFiles) : own
    if (resolved === undefined) return undefined
    const clean = withoutSecrets(resolved)
    lost ||= clean.lost || own.some(isInclude)
    whole.push(...resolved)
    const shown = name === 'config' ? [...clean.kept, ...added(clean.kept, isOverlay)] : clean.kept
    entries.set(name, shown)
    texts.set(name, writeConfigFile(shown))
  }
  secretFiles.push(...keyFilesOf(whole, git))
  return { texts, entries, whole, secretFiles, lost }
}

/**
 * Settings for the private directory only. Automatic repacking is turned off: the private directory has few objects of its own, but repacking would
 * copy all of the host's objects. Split indexes are turned off, because they can't be imported. On an overlay, directories take longer to read, so
 * git's untracked cache is turned on: after the first command that can write the index, `git status` reads only the directories that have changed.
 */
function added(kept: readonly ConfigEntry[], isOverlay: boolean): readonly ConfigEntry[] {
  const isSet = kept.some((entry) => keyOf(entry) === 'core.untrackedcache')
  return [
    entryOf('gc.auto', '0'),
    entryOf('core.splitindex', 'false'),
    ...(isOverlay && !isSet ? [entryOf('core.untrackedcache', 'true')] : []),
  ]
}

function resolveIncludes(
  git: string,
  host: HeldDirectory,
  hostGit: HostGit,
  name: string,
  own: readonly ConfigEntry[],
  secretFiles: string[],
): readonly ConfigEntry[] | undefined {
  const words = ['config', '--file', `/proc/self/fd/3/${name}`, '--includes', '--list', '-z', '--show-origin']
  const { ok, stdout } = hostGit.run(host, words)
  if (!ok) return undefined
  const fields = stdout.toString('latin1').split('\0')
  const entries: ConfigEntry[] = []
  const files = new Set<string>()
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [origin = '', setting = ''] = [fields[at], fields[at + 1]]
    files.add(origin.replace(/^file:/, ''))
    const line = setting.indexOf('\n')
    entries.push(line === -1 ? entryOf(setting, undefined) : entryOf(setting.slice(0, line), setting.slice(line + 1)))
  }
  // An include counts even if its condition doesn't hold now, because commands could still read the included file.
  for (const { value } of [...own, ...entries].filter(isInclude)) {
    const path = Buffer.from(value ?? '', 'latin1').toString('utf8')
    const known = path.startsWith('~/') ? expandHome(path, homes()) : [isAbsolute(path) ? path : join(git, path)]
    for (const file of known) files.add(file)
  }
  for (const file of files) if (!file.startsWith('/proc/self/fd/3/') && holdsSecrets(file)) secretFiles.push(file)
  return entries
}

function holdsSecrets(file: string): boolean {
  const text = readWhole(file)
  if (text === undefined) return false
  const entries = parseConfigFile(text)
  return entries === undefined
    ? /token|authorization|password|:\/\/[^/\s]*@/i.test(text)
    : withoutSecrets(entries.filter((entry) => !isInclude(entry))).lost
}

function readWhole(file: string): string | undefined {
  try {
    const directory = holdDirectory(dirname(realpathSync.native(file)))
    try {
      return directory.read(basename(realpathSync.native(file)), largest)?.toString('latin1')
    } finally {
      directory.close()
    }
  } catch {
    // This program can't reach the file, so commands can't read it either.
    return undefined
  }
}
