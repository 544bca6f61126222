import { userInfo } from 'node:os'
import { isAbsolute, join, normalize } from 'node:path'
import process from 'node:process'

/**
 * The caller's home directories: `$HOME` and the directory in the password database. They differ under `sudo`, in many containers and in CI.
 * Credentials may be in either of them, so `~` has to mean both.
 */
export function homes(): readonly string[] {
  const found = [process.env['HOME'], registeredHome()].filter((home) => home !== undefined)
  return [...new Set(found.filter(isAbsolute).map(normalize))].filter((home) => home !== '/')
}

/**
 * The home directory in which the user and this program keep their files: `$HOME` or, if that isn't an absolute path, the directory in the password
 * database. If the user has neither, the result is a path that doesn't exist, so that nothing is found there and writing there fails.
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

/**
 * The home directory in the password database. It is cached for the life of the process, because every command needs it, and determining it means
 * reading the system's list of users.
 */
function registeredHome(): string | undefined {
  registered ??= { home: readRegisteredHome() }
  return registered.home
}

function readRegisteredHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    // This user id has no entry in the password database.
    return undefined
  }
}

/** Expands a path that may start with `~/` to the absolute paths that it can mean. Callers that expand many paths pass the result of `homes` as `known`. */
export function expandHome(path: string, known?: readonly string[]): readonly string[] {
  if (path !== '~' && !path.startsWith('~/')) return [isPlain(path) ? path : normalize(path)]
  return (known ?? homes()).map((home) => join(home, path.slice(1)))
}

/** Whether normalizing would certainly leave a path unchanged. There are many paths, and normalizing takes far longer than this test. */
function isPlain(path: string): boolean {
  return !path.includes('/.') && !path.includes('//') && !path.endsWith('/')
}
