import { delimiter, isAbsolute, join, normalize } from 'node:path'
import process from 'node:process'
import { homes } from '../homes.ts'
import { ownPlaces } from '../own-places.ts'
import { isWithin } from '../paths.ts'
import { credentials } from './credentials.ts'
import { moves } from './moves.ts'
import { readMoves, readPlaces, type Move, type ProtectedPlace, type Protection } from './place.ts'
import { settings } from './settings.ts'
import { ofOwnHome, startup } from './startup.ts'

let known: readonly ProtectedPlace[] | undefined
let knownMoves: readonly Move[] | undefined

/**
 * All that is protected, whoever acts: the one source for commands, file tools, patches, servers, hooks and the Guardian. Git's own
 * metadata is looked after by itself (`git/`).
 */
export function protectedTable(): readonly ProtectedPlace[] {
  known ??= [
    ...readPlaces('settings', settings),
    ...readPlaces('startup', startup),
    ...readPlaces('home', ofOwnHome),
    ...readPlaces('credentials', credentials),
  ]
  return known
}

/** Variables that move what the table holds. */
export function movingVariables(): readonly Move[] {
  return (knownMoves ??= readMoves(moves))
}

/**
 * What commands can't write although a root holds it, in the words of a policy's `protectedPaths`: absolute, relative to each writable root,
 * or after two stars and a slash in every directory of one.
 *
 * @param allowed names of places that may be written all the same: `.husky`, `.bashrc`. What steers this program never may
 */
export function protectedPlaces(allowed: readonly string[] = []): readonly string[] {
  const names = new Set(allowed)
  const table = protectedTable().filter(({ at }) => !names.has(at.replace(/^(?:\*\*|~)\//, '')))
  const named = placesOf(table, 'settings')
  const atTop = placesOf(table, 'startup').map((at) => at.slice(2))
  const atHome = placesEverywhere(table, ['startup', 'home', 'credentials'])
  return [...new Set([...named, ...atTop, ...atHome, ...ownPlaces()])]
}

/**
 * Where programs keep secrets, by default and where the environment says, and where this one keeps what steers it. A command of an agent has
 * no business there: each is hidden unless the policy's `deniedReads` says otherwise.
 */
export function credentialPlaces(): readonly string[] {
  return [...new Set([...placesEverywhere(protectedTable(), ['credentials']), ...ownPlaces()])]
}

function placesOf(table: readonly ProtectedPlace[], what: Protection): readonly string[] {
  return table.flatMap((place) => (place.what === what ? [place.at] : []))
}

/** Single places, absolute: in all homes, and wherever a variable moves them to. */
function placesEverywhere(table: readonly ProtectedPlace[], kinds: readonly Protection[]): readonly string[] {
  const owned = homes()
  const places = table.filter(({ what }) => kinds.includes(what)).map(({ at }) => at)
  // The table's own names are normal already, and there are many.
  const atHome = places.flatMap((at) => (at.startsWith('~/') ? owned.map((home) => home + at.slice(1)) : [at]))
  return [...atHome, ...movedPlaces(places, process.env)]
}

/** Where variables put what lies at `places` by default. A value that is no file of the user's own moves nothing: `HISTFILE=/dev/null`. */
function movedPlaces(places: readonly string[], env: Readonly<NodeJS.ProcessEnv>): readonly string[] {
  return movingVariables().flatMap((move) => {
    const value = env[move.variable]
    if (value === undefined || value === '') return []
    const values = move.list ? value.split(delimiter) : [value.replace(/^[A-Z]+:(?=\/)/, '')]
    return values.filter(isPlace).flatMap((base) =>
      places.flatMap((at) => {
        if (isWithin(move.from, at)) return [join(base, move.below)]
        return isWithin(at, move.from) ? [join(base, move.below, at.slice(move.from.length))] : []
      }),
    )
  })
}

function isPlace(value: string): boolean {
  const path = normalize(value)
  return isAbsolute(path) && path !== '/' && !['/dev', '/proc', '/sys'].some((system) => isWithin(path, system))
}
