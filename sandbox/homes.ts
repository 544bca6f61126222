import { userInfo } from 'node:os'
import { isAbsolute, join, normalize } from 'node:path'
import process from 'node:process'

/**
 * The caller's home directories: `$HOME` and the one in the password database. They differ under `sudo`, in many containers and in CI, and
 * a credential may be in either, so `~` has to mean both.
 */
export function homes(): readonly string[] {
  const found = [process.env['HOME'], registeredHome()].filter((home) => home !== undefined)
  return [...new Set(found.filter(isAbsolute).map(normalize))].filter((home) => home !== '/')
}

/**
 * The one that what is ours and the user's lies in: `$HOME`, or where that names no absolute path, the one in the password database.
 * For who has neither, a directory that isn't there: nothing is found in it, and what has to be kept says so.
 *
 * @internal
 */
export function homeDirectory(): string {
  for (const find of [() => process.env['HOME'], registeredHome]) {
    const home = find()
    if (home !== undefined && isAbsolute(home)) return home
  }
  return '/nonexistent'
}

let registered: { readonly home: string | undefined } | undefined

/** The same for as long as the process runs, and asked for with every command: it takes reading the system's list of users. */
function registeredHome(): string | undefined {
  registered ??= { home: readRegisteredHome() }
  return registered.home
}

function readRegisteredHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    // A uid without an entry in the password database.
    return undefined
  }
}

/** A path that may start with `~/`, as the absolute paths it means. `known` are the `homes`, where many paths are expanded. */
export function expandHome(path: string, known?: readonly string[]): readonly string[] {
  if (path !== '~' && !path.startsWith('~/')) return [isPlain(path) ? path : normalize(path)]
  return (known ?? homes()).map((home) => join(home, path.slice(1)))
}

/** Whether normalizing would leave a path unchanged: there are many paths, and normalizing takes far longer than this test. */
function isPlain(path: string): boolean {
  return !path.includes('/.') && !path.includes('//') && !path.endsWith('/')
}
