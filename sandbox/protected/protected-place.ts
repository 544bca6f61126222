/** Why a place is protected. The reason decides what commands, and everything else that acts for a model, must not do with it. */
export type Protection =
  /** Other programs obey these files when somebody opens a directory as a project: never written. */
  | 'settings'
  /** Shells and programs obey these files in a home: never written, neither there nor at the top of a root, which may be somebody's home. */
  | 'startup'
  /** Like `startup`, but with names that projects use too: only in the caller's homes. */
  | 'home'
  /** Secrets, or files that give access to them: neither read nor written. */
  | 'credentials'

/** One place of the table. */
export type ProtectedPlace = {
  /**
   * `~/x`: in the caller's homes. Two stars and `/x`: in every directory of a root, where `*` in a component stands for any text. `/x`: exactly this
   * path. A directory includes everything in it.
   */
  readonly at: string
  readonly what: Protection
  readonly program: string
  /** Where that is documented. */
  readonly source: string
}

/** A variable that tells a program to look elsewhere. */
export type Move = {
  readonly variable: string
  /** The path that is appended to its value; empty for the value itself. */
  readonly below: string
  /** The place that it replaces. */
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
