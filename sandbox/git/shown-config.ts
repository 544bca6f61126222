import { dirname } from 'node:path'
import { homeDirectory } from '../homes.ts'
import { decodeText, encodeText } from '../path-bytes.ts'
import { withoutSecrets } from './config-clean.ts'
import { entryOf, keyOf, parseConfigFile, writeConfigFile, type ConfigEntry } from './config-file.ts'
import { isInclude, keyFilesOf } from './global-config.ts'
import type { HeldDirectory } from './held-directory.ts'
import type { HostGit } from './host-git.ts'
import { includedFiles, mustBeHidden, readableSettings } from './included-files.ts'

/** A repository's config in the form that commands see. */
export type ShownConfig = {
  /** The contents of the config files, by path. */
  readonly texts: ReadonlyMap<string, string>
  readonly entries: ReadonlyMap<string, readonly ConfigEntry[]>
  /** All settings on the host, including secrets. They are needed to find the files that the settings name. */
  readonly whole: readonly ConfigEntry[]
  /** Included files that commands must not see, and the key files that the config names. */
  readonly secretFiles: readonly string[]
  /** The config files whose originals commands must not see, because they contain secrets or includes, or can't be read. */
  readonly changed: ReadonlySet<string>
  /** Whether git can read the config. If not, `texts` contains only those settings that are certain. */
  readonly isValid: boolean
}

const largest = 4 * 1024 * 1024

/**
 * Reads a repository's config from the host and removes secrets. Git itself resolves the includes, because it understands their conditions.
 *
 * @param git the repository's directory, without symlinks
 * @param hostGit undefined if there is no git program that can be trusted. Included settings are then left out
 * @param names the config files: `config`, and those of the work trees that have their own
 * @param options `isOverlay`: whether the work tree is on a mounted overlayfs. `rewritten`: see `withoutSecrets`
 */
export function readShownConfig(
  git: string,
  host: HeldDirectory,
  hostGit: HostGit | undefined,
  names: readonly string[],
  { isOverlay = false, rewritten = [] }: { readonly isOverlay?: boolean; readonly rewritten?: readonly string[] } = {},
): ShownConfig {
  const [texts, entries] = [new Map<string, string>(), new Map<string, readonly ConfigEntry[]>()]
  const [whole, secretFiles, changed]: [ConfigEntry[], Set<string>, Set<string>] = [[], new Set(), new Set()]
  let isValid = true
  for (const name of names) {
    const kind = host.stat(name)?.kind
    if (kind === undefined && name !== 'config') continue
    const link = kind === 'link' ? host.link(name) : undefined
    const content = kind === undefined || kind === 'link' ? '' : host.text(name, largest)
    const own = content === undefined ? undefined : parseConfigFile(content)
    const readable = own ?? readableSettings(content ?? '')
    const included = [...readable.filter(isInclude), ...(link === undefined ? [] : [entryOf('include.path', link)])]
    const at = `${git}/${name}`
    const files = includedFiles(included, dirname(at), (path) => expandPath(host, hostGit, path))
    for (const file of files) if (mustBeHidden(file)) secretFiles.add(file.path)
    const resolved = own?.some(isInclude) === true ? resolveIncludes(host, hostGit, name) : own
    if (resolved === undefined) isValid = false
    const settings = resolved ?? readable
    const clean = withoutSecrets(settings, rewritten)
    // A comment may contain a secret too.
    if (own === undefined || included.length > 0 || clean.lost || /[#;]/.test(content ?? '')) changed.add(name)
    whole.push(...settings)
    const shown = name === 'config' ? [...clean.kept, ...added(clean.kept, isOverlay)] : clean.kept
    entries.set(name, shown)
    texts.set(name, writeConfigFile(shown))
    // Git resolves a relative key file against its current directory, which is usually the top of the work tree.
    const all = [...settings, ...files.flatMap((file) => file.entries)]
    for (const base of [git, dirname(git)]) for (const file of keyFilesOf(all, base)) secretFiles.add(file)
  }
  return { texts, entries, whole, secretFiles: [...secretFiles], changed, isValid }
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

/** The settings of a config file and of the files that it includes now, as git reads them; undefined if git can't read them. */
function resolveIncludes(
  host: HeldDirectory,
  hostGit: HostGit | undefined,
  name: string,
): readonly ConfigEntry[] | undefined {
  const words = ['config', '--file', `/proc/self/fd/3/${name}`, '--includes', '--list', '-z']
  const result = hostGit?.run(host, words, { env: { HOME: homeDirectory() } })
  if (result?.ok !== true) return undefined
  const settings = decodeText(result.stdout).split('\0').slice(0, -1)
  return settings.map((setting) => {
    const line = setting.indexOf('\n')
    return line === -1 ? entryOf(setting, undefined) : entryOf(setting.slice(0, line), setting.slice(line + 1))
  })
}

/** Lets git expand a path that begins with `~USER/` or `%(prefix)/`. */
function expandPath(host: HeldDirectory, hostGit: HostGit | undefined, path: string): string | undefined {
  const words = ['config', '--file', '-', '--type=path', '-z', '--get', 'include.path']
  const input = encodeText(writeConfigFile([entryOf('include.path', path)]))
  const result = hostGit?.run(host, words, { input, env: { HOME: homeDirectory() } })
  return result?.ok === true ? decodeText(result.stdout).slice(0, -1) : undefined
}
