import type { Coverage } from './coverage.ts'
import type { ParsedScript } from './shell-syntax.ts'
import type { ShellWord } from './shell-word.ts'
import type { Variables } from './variables.ts'

/** What the reading of words needs from the walk around it. */
export type WordContext = {
  readonly variables: Variables
  /** The shell is not bash: what bash alone understands is a different text to it. */
  readonly plainShell: boolean
  /** Walks the commands of a substitution. Returns the commands of its pipeline, if it is one of simple commands. */
  readonly substitution: (script: ParsedScript | undefined) => readonly (readonly ShellWord[])[] | undefined
  /** Records that a name is assigned to. */
  readonly assigns: (name: string) => void
  /** Notes that something can be told of a variable of the environment. */
  readonly shows: (what: string) => void
  /** Notes why the line can't be fully understood. */
  readonly problem: (reason: string) => void
  /** Records that a text held as data is evaluated, and may run commands in it. */
  readonly evaluates: (reason: string) => void
  /** The visited parts. */
  readonly coverage: Coverage
}
