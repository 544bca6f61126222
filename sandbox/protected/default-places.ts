import { delimiter, isAbsolute, join, normalize } from 'node:path'
import process from 'node:process'
import { homes } from '../homes.ts'
import { appDirectories } from '../app-directories.ts'
import { isWithin } from '../paths.ts'
import type { Protection } from './protected-place.ts'
import { preparedPlaces, type PreparedPlaces } from './prepared-places.ts'

// Parsed from the text at most once, unless the build has done it.
let known: PreparedPlaces | undefined
const prepared = (): PreparedPlaces => (known ??= preparedPlaces())

/**
 * Paths that commands can't write even inside a root, in the form of a policy's `protectedPaths`: absolute, relative to each writable root, or after
 * two stars and a slash in every directory of a root.
 *
 * @param allowed names of places that may be written all the same, such as `.husky` or `.bashrc`. Files that configure this program stay protected
 * @example const protectedPaths = [...protectedPlaces(), 'CODEOWNERS'] // a list given replaces the default
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
 * Where programs keep secrets, by default and where the environment moves them, and where this program keeps its own configuration. An agent's
 * commands don't need them: each is hidden unless the policy's `deniedReads` says otherwise.
 *
 * @example const deniedReads = [...credentialPlaces(), '~/private'] // a list given replaces the default
 */
export function credentialPlaces(): readonly string[] {
  return [...new Set([...placesEverywhere(prepared().places.credentials), ...appDirectories()])]
}

/** Single places, absolute: in all homes, and wherever a variable moves them to. */
function placesEverywhere(places: readonly string[]): readonly string[] {
  const owned = homes()
  // The table's own names are normalized already, and there are many.
  const found: string[] = []
  for (const at of places) {
    if (!at.startsWith('~/')) found.push(at)
    else for (const home of owned) found.push(home + at.slice(1))
  }
  return [...found, ...movedPlaces(places, process.env)]
}

/**
 * The places to which variables move the defaults in `places`. A value that is no file of the user's own, as in `HISTFILE=/dev/null`, moves nothing.
 */
function movedPlaces(places: readonly string[], env: Readonly<NodeJS.ProcessEnv>): readonly string[] {
  return prepared().moves.flatMap((move) => {
    const value = env[move.variable]
    if (value === undefined || value === '') return []
    const values = move.list ? value.split(delimiter) : [value.replace(/^[A-Z]+:(?=\/)/, '')]
    return values.filter(isPlace).flatMap((base) => {
      const to = join(base, move.below).replace(/\/$/, '')
      const found: string[] = []
      for (const at of places) {
        if (isWithin(move.from, at)) found.push(to)
        // The table's names are normalized, so that joining would change nothing.
        else if (isWithin(at, move.from)) found.push(to + at.slice(move.from.length))
      }
      return found
    })
  })
}

function isPlace(value: string): boolean {
  const path = normalize(value)
  return isAbsolute(path) && path !== '/' && !['/dev', '/proc', '/sys'].some((system) => isWithin(path, system))
}
