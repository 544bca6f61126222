import { isTable } from '../../core/is-table.ts'

type Table = Readonly<Record<string, unknown>>

/** Lays a table over another: of two values, the upper counts; of two tables, each value of both. */
export function layTable(lower: Table, upper: Table): Table {
  const both = Object.entries(upper).map(([key, value]): [string, unknown] => {
    const below = Object.hasOwn(lower, key) ? lower[key] : undefined
    return [key, isTable(below) && isTable(value) ? layTable(below, value) : value]
  })
  return { ...lower, ...Object.fromEntries(both) }
}
