import { homedir, userInfo } from 'node:os'
import { isAbsolute, join, normalize } from 'node:path'
import process from 'node:process'

/**
 * The caller's home directories: `$HOME` and the one in the password database. They differ under `sudo`, in many
 * containers and in CI, and a credential may lie in either, so that `~` has to mean both.
 */
export function homes(): readonly string[] {
  const found = [homedir()]
  if (process.platform !== 'win32') {
    try {
      found.push(userInfo().homedir)
    } catch {
      // A uid without an entry in the password database has no second home.
    }
  }
  return [...new Set(found.filter(isAbsolute).map(normalize))].filter((home) => home !== '/')
}

/** A path that may start with `~/`, as the absolute paths it means. `known` are the `homes`, where many paths are expanded. */
export function expandHome(path: string, known?: readonly string[]): readonly string[] {
  if (path !== '~' && !path.startsWith('~/')) return [normalize(path)]
  return (known ?? homes()).map((home) => join(home, path.slice(1)))
}
