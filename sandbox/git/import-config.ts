import { hasRawBytes } from '../path-bytes.ts'
import { isImportable } from './config-clean.ts'
import { keyOf, parseConfigFile, type ConfigEntry } from './config-file.ts'
import type { ImportSides, Known } from './import-types.ts'

const largestConfig = 4 * 1024 * 1024

/** A setting to import, with all its values. If there are no values, the setting is removed. */
type ConfigChange = { readonly file: string; readonly key: string; readonly values: readonly string[] }

/**
 * Imports changed settings that are only data, never a setting that names a program. In most sections, such as those of remotes and submodules,
 * settings are imported only if the section is new, because the URLs in existing sections belong to the user.
 *
 * @returns whether the work tree is sparse according to the host's config afterwards
 */
export function importConfig(sides: ImportSides, known: Known): boolean {
  const { git, host, left, scopes } = sides
  const linked = scopes.some(({ prefix }) => prefix !== '')
  const perWorktree = valuesOf(known.config.get('config') ?? [], 'extensions.worktreeconfig').at(-1) === 'true'
  const changes: ConfigChange[] = []
  let sparse = ['config', 'config.worktree'].some(
    (file) => valuesOf(known.config.get(file) ?? [], 'core.sparsecheckout').at(-1) === 'true',
  )
  for (const file of ['config', 'config.worktree']) {
    const before = known.config.get(file) ?? []
    const text = left.text(file, largestConfig)
    const now = text === undefined ? undefined : parseConfigFile(text)
    if (now === undefined) continue
    for (const { key, values, entry } of changedSettings(before, now)) {
      const isNew = entry.section === 'branch' || entry.section === 'core' || !hasSection(before, entry)
      if (!isNew) continue
      if (entry.section !== 'core') {
        if (file === 'config') changes.push({ file, key, values })
        continue
      }
      // The setting is skipped: the repository has linked work trees, but no config file for each, so the setting would apply to all work trees.
      if (linked && !perWorktree) continue
      changes.push({ file: perWorktree ? 'config.worktree' : 'config', key, values })
      if (key === 'core.sparsecheckout') sparse = values.at(-1) === 'true'
    }
    known.config.set(file, now)
  }
  for (const { file, key, values } of changes) {
    // Git gets the setting in its arguments, which can't contain bytes that aren't UTF-8 (see `HostGit`).
    if ([key, ...values].some(hasRawBytes)) continue
    const at = ['config', '--file', `/proc/self/fd/3/${file}`]
    const [only] = values
    if (values.length === 1 && only !== undefined) git.run(host, [...at, '--replace-all', key, only])
    else {
      git.run(host, [...at, '--unset-all', key])
      for (const value of values) git.run(host, [...at, '--add', key, value])
    }
  }
  return sparse
}

/** The changed settings that may be imported. A removed setting is among them only if it belongs to a branch. */
function changedSettings(
  before: readonly ConfigEntry[],
  now: readonly ConfigEntry[],
): readonly { readonly key: string; readonly values: readonly string[]; readonly entry: ConfigEntry }[] {
  const entries = new Map([...before, ...now].map((entry) => [keyOf(entry), entry]))
  return [...entries].flatMap(([key, entry]) => {
    const [old, values] = [valuesOf(before, key), valuesOf(now, key)]
    if (old.length === values.length && old.every((value, index) => value === values[index])) return []
    const shaped = now.filter((each) => keyOf(each) === key)
    // A removed setting has no new value to check, so its old value is checked.
    const judged = shaped.length === 0 ? before.filter((each) => keyOf(each) === key) : shaped
    if (!judged.every(isImportable) || (shaped.length === 0 && entry.section !== 'branch')) return []
    return [{ key, values, entry }]
  })
}

function hasSection(entries: readonly ConfigEntry[], { section, subsection }: ConfigEntry): boolean {
  return entries.some((entry) => entry.section === section && entry.subsection === subsection)
}

function valuesOf(entries: readonly ConfigEntry[], key: string): readonly string[] {
  return entries.flatMap((entry) => (keyOf(entry) === key && entry.value !== undefined ? [entry.value] : []))
}
