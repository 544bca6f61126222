import { isTable } from '../../core/is-table.ts'
import { leafPath, keyOf } from '../leaves.ts'
import { ConfigFile } from '../settings-schema.ts'
import { faultsOf } from '../validate.ts'

/** The settings of another program that are valid in this program's configuration, and those that aren't. */
type SoundSettings = {
  readonly settings: ConfigFile
  /** Unknown keys, and keys with an invalid value. An empty path stands for the whole table, if too many of its keys are invalid. */
  readonly refused: readonly { readonly path: readonly string[]; readonly why: string }[]
}

/**
 * The maximum number of validation rounds. Each round removes what is invalid and validates the rest again, because one error may hide another. If
 * the last round still finds an error, no setting is used.
 */
const rounds = 8

/**
 * Extracts the valid settings from a table. An unknown key is removed on its own. An invalid value removes its whole setting, because a part of a
 * command or list could mean something different from the whole.
 */
export function soundSettings(table: object): SoundSettings {
  const refused: { readonly path: readonly string[]; readonly why: string }[] = []
  let left: unknown = table
  for (let round = 0; round < rounds; round++) {
    const result = ConfigFile.safeParse(left)
    if (result.success) return { settings: result.data, refused }
    for (const { path, unknown, message } of faultsOf(result.error)) {
      const gone = reached(left, unknown ? path : leafPath(path))
      if (refused.some((one) => keyOf(one.path) === keyOf(gone))) continue
      refused.push({ path: gone, why: unknown ? 'it is not a known setting' : message })
      left = without(left, gone)
    }
  }
  return { settings: {}, refused: [...refused, { path: [], why: 'too many of its keys are not valid' }] }
}

/** Removes the keys that no setting has. Returns the rest, whose values may be invalid, and the paths of the removed keys. */
export function withoutUnknown(table: object): {
  readonly table: Readonly<Record<string, unknown>>
  readonly unknown: readonly (readonly string[])[]
} {
  const unknown: (readonly string[])[] = []
  let left: unknown = table
  for (let round = 0; round < rounds; round++) {
    const { error } = ConfigFile.safeParse(left)
    const gone = error === undefined ? [] : faultsOf(error).filter((fault) => fault.unknown)
    if (gone.length === 0) break
    for (const { path } of gone) {
      unknown.push(...pathsBelow(left, path))
      left = without(left, path)
    }
  }
  return { table: isTable(left) ? left : {}, unknown }
}

/** Returns the paths of the values in a table, if there is one at a path; otherwise the path itself. */
function pathsBelow(table: unknown, path: readonly string[]): readonly (readonly string[])[] {
  const value = path.reduce<unknown>((at, key) => (isTable(at) ? at[key] : undefined), table)
  if (!isTable(value) || Object.keys(value).length === 0) return [path]
  return Object.keys(value).flatMap((key) => pathsBelow(table, [...path, key]))
}

/** Returns the longest prefix of a path that leads only through tables. The prefix ends at a list, because a list is valid or invalid as a whole. */
function reached(table: unknown, path: readonly string[]): readonly string[] {
  let at = table
  const whole = path.findIndex((key) => {
    if (!isTable(at)) return true
    at = Object.hasOwn(at, key) ? at[key] : undefined
    return false
  })
  return whole < 0 ? path : path.slice(0, whole)
}

/** Removes the value at a path from a table. */
export function without(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (!isTable(value) || key === undefined) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
      if (name !== key) return [[name, inner]]
      return rest.length === 0 ? [] : [[name, without(inner, rest)]]
    }),
  )
}
