import { delimiter, dirname, isAbsolute, join, normalize } from 'node:path'
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

/** Absolute places: in all homes, and wherever a variable moves them. */
function placesEverywhere(places: readonly string[]): readonly string[] {
  // As one text, since there are many: making each path by itself would slow down every start. No path contains a NUL.
  const text = `\0${places.join('\0')}\0`
  const found = homes().flatMap((home) => text.split('\0~/').join(`\0${home}/`).slice(1, -1).split('\0'))
  const single = found.length > 0 ? found : places.filter((at) => !at.startsWith('~/'))
  return [...single, ...movedPlaces(text, process.env)]
}

/**
 * The places to which variables move the defaults in `text`. A value that is no file of the user's own, as in `HISTFILE=/dev/null`, moves nothing.
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

/** Whether a place is among those of `text`, or lies in one of them. */
function isHeld(text: string, place: string): boolean {
  for (let at = place; at !== dirname(at); at = dirname(at)) if (text.includes(`\0${at}\0`)) return true
  return false
}

/** The rest of each place of `text` that lies below a given one. */
function endsBelow(text: string, place: string): readonly string[] {
  const [, ...after] = text.split(`\0${place}/`)
  return after.map((rest) => rest.split('\0', 1)[0] ?? '')
}

function isPlace(value: string): boolean {
  const path = normalize(value)
  return isAbsolute(path) && path !== '/' && !['/dev', '/proc', '/sys'].some((system) => isWithin(path, system))
}
