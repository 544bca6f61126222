/** The reason why a place is protected. It decides what is forbidden to commands, and to everything else that acts on behalf of a model. */
export type Protection =
  /** Files that control other programs when somebody opens a directory as a project. They must not be written. */
  | 'settings'
  /**
   * Files in a home directory that control shells and programs. They must not be written there or in the top directory of a root, which may be
   * somebody's home directory.
   */
  | 'startup'
  /** Like `startup`, but with names that projects use too. They are protected only in the caller's home directories. */
  | 'home'
  /** Secrets, or files that give access to secrets. They must not be read or written. */
  | 'credentials'

/** One protected place in the table. */
export type ProtectedPlace = {
  /**
   * `~/x` means `x` in each of the caller's home directories. Two stars and `/x` mean `x` in every directory of a root, where `*` in a component stands for any
   * text. `/x` means exactly this path. If the place is a directory, everything in it is protected.
   */
  readonly at: string
  readonly what: Protection
  readonly program: string
  /** Where the place is documented. */
  readonly source: string
}

/** An environment variable that tells a program to use a different place. */
export type Move = {
  readonly variable: string
  /** The path that is appended to the variable's value; empty if the value itself is the new place. */
  readonly below: string
  /** The default place, which the variable replaces. */
  readonly from: string
  /** Whether the variable's value is a list of paths. */
  readonly list: boolean
  readonly source: string
}

/** Parses lines of the form `program | source | place | place …`. */
export function readPlaces(what: Protection, text: string): readonly ProtectedPlace[] {
  return rowsOf(text).flatMap(([program = '', source = '', ...at]) =>
    at.map((place) => ({ at: place, what, program, source })),
  )
}

/** Parses lines of the form `variable | place | source`. */
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
