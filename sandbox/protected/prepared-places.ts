import type { Protection } from './protected-place.ts'
import { movingVariables, protectedTable } from './table.ts'

/** What the table says without its reasons: where what is protected lies, and what moves it. */
export type PreparedPlaces = {
  readonly places: Readonly<Record<Protection, readonly string[]>>
  readonly moves: readonly {
    readonly variable: string
    readonly below: string
    readonly from: string
    readonly list: boolean
  }[]
}

/** Computed from the table's text. The build calls this and bundles what it gives, since each start would take longer to read the text than for most else. */
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
