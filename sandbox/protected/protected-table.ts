import { credentials } from './credentials.ts'
import { moves } from './moves.ts'
import { readMoves, readPlaces, type Move, type ProtectedPlace } from './protected-place.ts'
import { settings } from './settings.ts'
import { ofOwnHome, startup } from './startup.ts'

let known: readonly ProtectedPlace[] | undefined
let knownMoves: readonly Move[] | undefined

/**
 * All protected places. This table applies to everything that acts on behalf of a model: commands, file tools, patches, servers, hooks and the
 * Guardian. Git's own metadata is handled separately (`git/`).
 *
 * @example console.log(protectedTable().length)
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

/** The environment variables that make a program use a different place than the one in the table, such as `XDG_CONFIG_HOME`. */
export function movingVariables(): readonly Move[] {
  return (knownMoves ??= readMoves(moves))
}
