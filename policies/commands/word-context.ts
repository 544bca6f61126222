import type { Coverage } from './coverage.ts'
import type { ParsedScript } from './shell-syntax.ts'
import type { ShellWord } from './shell-word.ts'
import type { Variables } from './variables.ts'

/** What reading words needs from the walk around it. */
export type WordContext = {
  readonly variables: Variables
  /** The shell is not bash, so it reads syntax that only bash understands as something else. */
  readonly plainShell: boolean
  /** Walks the commands of a substitution. Returns the commands of its pipeline, if it is one of simple commands. */
  readonly substitution: (script: ParsedScript | undefined) => readonly (readonly ShellWord[])[] | undefined
  /** Records that a name is assigned to. */
  readonly assigns: (name: string) => void
  /** Notes that the line reveals something about an environment variable. */
  readonly shows: (what: string) => void
  /** Notes why the line can't be fully understood. */
  readonly problem: (reason: string) => void
  /** Records that a text held as data is evaluated, and may run commands in it. */
  readonly evaluates: (reason: string) => void
  /** The visited parts. */
  readonly coverage: Coverage
}
