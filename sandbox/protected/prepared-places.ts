import type { Protection } from './protected-place.ts'
import { movingVariables, protectedTable } from './protected-table.ts'

/**
 * The table of protected places in the form that the program uses, without the sources: the places, and the environment variables that make a program
 * use a different place.
 */
export type PreparedPlaces = {
  readonly places: Readonly<Record<Protection, readonly string[]>>
  readonly moves: readonly {
    readonly variable: string
    readonly below: string
    readonly from: string
    readonly list: boolean
  }[]
}

/** Parses the table of protected places. The build calls this and bundles the result, because parsing is one of the slowest parts of the startup. */
export function preparedPlaces(): PreparedPlaces {
  const table = protectedTable()
  const placesOf = (what: Protection): readonly string[] =>
    table.flatMap((place) => (place.what === what ? [place.at] : []))
  return {
    places: {
      settings: placesOf('settings'),
      startup: placesOf('startup'),
      home: placesOf('home'),
      credentials: placesOf('credentials'),
    },
    moves: movingVariables().map(({ variable, below, from, list }) => ({ variable, below, from, list })),
  }
}
