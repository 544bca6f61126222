import type { Random } from './random.ts'

/** A kind of random text, and how to run a text that is allowed. */
export type FuzzKind = {
  readonly make: (random: Random) => string
  /** Returns command lines that run a text. Bash or dash runs them in a folder with the files `a` and `d/b`. */
  readonly runs: (text: string, random: Random) => readonly string[]
  /** Whether the text could do harm. If not, it isn't worth running, and isn't counted. */
  readonly isArmed: (text: string) => boolean
  /** Called with each allowed text. */
  readonly learn?: (text: string, random: Random) => void
}
