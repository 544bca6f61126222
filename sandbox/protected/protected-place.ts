/** Why a place is protected, which decides what is kept from commands and from everything else that acts for a model. */
export type Protection =
  /** Other programs obey it when a directory is opened as a project: never written. */
  | 'settings'
  /** Shells and programs obey it in a home: never written, there or at the top of a root, which may be somebody's. */
  | 'startup'
  /** The same, of names that projects have too: in the caller's homes alone. */
  | 'home'
  /** Secrets, or what leads to them: neither read nor written. */
  | 'credentials'

/** One place of the table. */
export type ProtectedPlace = {
  /**
   * `~/x`: in the caller's homes. Two stars and `/x`: in every directory of a root, where `*` in a component stands for any text. `/x`: the
   * one place. A directory stands for all that is in it.
   */
  readonly at: string
  readonly what: Protection
  readonly program: string
  /** Where that is documented. */
  readonly source: string
}

/** A variable by which a program is told to look elsewhere. */
export type Move = {
  readonly variable: string
  /** What is joined to its value; empty for the value itself. */
  readonly below: string
  /** The place that it stands in for. */
  readonly from: string
  /** Whether the value is a list of paths. */
  readonly list: boolean
  readonly source: string
}

/** Reads lines of `program | source | place | place …`. */
export function readPlaces(what: Protection, text: string): readonly ProtectedPlace[] {
  return rowsOf(text).flatMap(([program = '', source = '', ...at]) =>
    at.map((place) => ({ at: place, what, program, source })),
  )
}

/** Reads lines of `variable | place | source`. */
export function readMoves(text: string): readonly Move[] {
  return rowsOf(text).map(([name = '', from = '', source = '']) => {
    const [variable = '', ...below] = name.replace(/\[\]$/, '').split('/')
    return { variable, below: below.join('/'), from, list: name.endsWith('[]'), source }
  })
}

function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => line.split(' | '))
}
