import { userInfo } from 'node:os'
import { isAbsolute, join, normalize, resolve } from 'node:path'
import process from 'node:process'
import { faultOfVariable } from './misread-start.ts'
import { decodeName } from './path-bytes.ts'
import { SandboxError } from './sandbox-error.ts'

/** What commands see of home directories, and of the rest of this machine, if the policy doesn't say it. */
export const defaultHome: 'closed' | 'open' = 'closed'

/**
 * The caller's home directories: `$HOME` and the directory in the password database. They differ under `sudo`, in many containers and in CI.
 * Credentials may be in either of them, so `~` has to mean both. Programs resolve a relative `$HOME` against the current directory, so this function
 * does too.
 *
 * @throws SandboxError `invalid-policy` if Node could not decode `$HOME`: the credentials in it would not be hidden
 */
export function homes(): readonly string[] {
  const named = process.env['HOME']
  const fault = faultOfVariable('HOME', named)
  if (fault !== undefined) {
    throw new SandboxError('invalid-policy', {
      problems: [{ key: 'HOME', expected: `the environment variable ${fault}. Set it to a path in UTF-8` }],
    })
  }
  const found = [named === undefined || named === '' ? undefined : resolve(named), registeredHome()]
  const absolute = found.filter((home) => home !== undefined).filter(isAbsolute)
  return [...new Set(absolute.map(normalize))].filter((home) => home !== '/')
}

/**
 * The home directory in which the user and this program keep their files: `$HOME` or, if that isn't an absolute path, the directory in the password
 * database. If the user has neither in UTF-8, the result is a path that doesn't exist, so that nothing is found there and writing there fails.
 *
 * @internal
 */
export function homeDirectory(): string {
  for (const find of [() => process.env['HOME'], registeredHome]) {
    const home = find()
    if (home !== undefined && isAbsolute(home) && home.isWellFormed()) return home
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
    // A home that isn't UTF-8 must not become the path of another directory.
    return decodeName(userInfo({ encoding: 'buffer' }).homedir.toString('latin1'))
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
