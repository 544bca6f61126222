import type { Coverage } from './coverage.ts'
import type { ParsedScript } from './shell-syntax.ts'
import type { Place } from './place.ts'
import type { ShellWord } from './shell-word.ts'
import type { Variables } from './variables.ts'

/** The context that a walk provides for reading words. */
export type WordContext = {
  readonly variables: Variables
  /** Where the shell is at this point of the text. */
  readonly place: () => Place
  /** Whether the shell is not bash. If so, it interprets bash-only syntax differently. */
  readonly plainShell: boolean
  /**
   * Walks the commands of a substitution. If they are a single pipeline of simple commands, returns the words of these commands, and otherwise
   * undefined.
   */
  readonly substitution: (script: ParsedScript | undefined) => readonly (readonly ShellWord[])[] | undefined
  /** Records that the command line assigns a value to a name. */
  readonly assigns: (name: string) => void
  /** Records that the command line reveals something about an environment variable. */
  readonly shows: (what: string) => void
  /** Records why the command line can't be fully understood. */
  readonly problem: (reason: string) => void
  /** Records that the shell evaluates data as code, which may run commands in the data. */
  readonly evaluates: (reason: string) => void
  /** The parts of the text that were visited. */
  readonly coverage: Coverage
}
