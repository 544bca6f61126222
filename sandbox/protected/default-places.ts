import { delimiter, dirname, isAbsolute, join, normalize } from 'node:path'
import process from 'node:process'
import { homes } from '../homes.ts'
import { appDirectories } from '../app-directories.ts'
import { isWithin } from '../paths.ts'
import type { Protection } from './protected-place.ts'
import { preparedPlaces, type PreparedPlaces } from './prepared-places.ts'

// The table of protected places is parsed at most once, and not at all if the build has already parsed it.
let known: PreparedPlaces | undefined
const prepared = (): PreparedPlaces => (known ??= preparedPlaces())

/**
 * Paths that commands can't write to, even inside a writable root. They have the form of a policy's `protectedPaths`: an absolute path, a path
 * relative to every writable root, or (after two stars and a slash) a path relative to every directory of a root.
 *
 * @param allowed names of places that commands may write to after all, such as `.husky` or `.bashrc`. Files that configure this program stay
 * protected
 * @example const protectedPaths = [...protectedPlaces(), 'CODEOWNERS'] // a list in a policy replaces the default list
 */
export function protectedPlaces(allowed: readonly string[] = []): readonly string[] {
  const names = new Set(allowed)
  const placesOf = (what: Protection): readonly string[] => {
    const places = prepared().places[what]
    return names.size === 0 ? places : places.filter((at) => !names.has(at.replace(/^(?:\*\*|~)\//, '')))
  }
  const named = placesOf('settings')
  const atTop = placesOf('startup').map((at) => at.slice(2))
  const atHome = placesEverywhere([...placesOf('startup'), ...placesOf('home'), ...placesOf('credentials')])
  return [...new Set([...named, ...atTop, ...atHome, ...appDirectories()])]
}

/**
 * The places where programs keep secrets (their default places, and those that environment variables name), and where this program keeps its own
 * configuration. An agent's commands don't need these places. They are the default value of a policy's `deniedReads`.
 *
 * @example const deniedReads = [...credentialPlaces(), '~/private'] // a list in a policy replaces the default list
 */
export function credentialPlaces(): readonly string[] {
  return [...new Set([...placesEverywhere(prepared().places.credentials), ...appDirectories()])]
}

/** The absolute paths of the places: those in every home directory, and those to which environment variables move them. */
function placesEverywhere(places: readonly string[]): readonly string[] {
  // The places are joined into one text, because building each of the many paths separately would slow down every start. No path contains a NUL.
  const text = `\0${places.join('\0')}\0`
  const found = homes().flatMap((home) => text.split('\0~/').join(`\0${home}/`).slice(1, -1).split('\0'))
  const single = found.length > 0 ? found : places.filter((at) => !at.startsWith('~/'))
  return [...single, ...movedPlaces(text, process.env)]
}

/**
 * The places that replace the defaults in `text` because an environment variable is set. A value that can't be a user's own file is ignored, as in
 * `HISTFILE=/dev/null`.
 */
function movedPlaces(text: string, env: Readonly<NodeJS.ProcessEnv>): readonly string[] {
  return prepared().moves.flatMap((move) => {
    const value = env[move.variable]
    if (value === undefined || value === '') return []
    const values = move.list ? value.split(delimiter) : [value.replace(/^[A-Z]+:(?=\/)/, '')]
    return values.filter(isPlace).flatMap((base) => {
      const to = join(base, move.below).replace(/\/$/, '')
      return [...(isHeld(text, move.from) ? [to] : []), ...endsBelow(text, move.from).map((end) => `${to}/${end}`)]
    })
  })
}

/** Whether `text` lists a place, or a directory that contains it. */
function isHeld(text: string, place: string): boolean {
  for (let at = place; at !== dirname(at); at = dirname(at)) if (text.includes(`\0${at}\0`)) return true
  return false
}

/** Returns the paths in `text` that are below `place`, relative to `place`. In `text`, each path stands between NULs. */
function endsBelow(text: string, place: string): readonly string[] {
  const [, ...after] = text.split(`\0${place}/`)
  return after.map((rest) => rest.split('\0', 1)[0] ?? '')
}

function isPlace(value: string): boolean {
  const path = normalize(value)
  return isAbsolute(path) && path !== '/' && !['/dev', '/proc', '/sys'].some((system) => isWithin(path, system))
}
