import type { Random } from './random.ts'

/** A kind of random text, and what is run of one that is allowed. */
export type FuzzKind = {
  readonly make: (random: Random) => string
  /** Command lines, run by bash in a folder with the files `a` and `d/b`. */
  readonly runs: (text: string, random: Random) => readonly string[]
  /** Whether the text could do harm at all: only then does it count, and is it worth running. */
  readonly isArmed: (text: string) => boolean
  /** Told of what is allowed. */
  readonly learn?: (text: string, random: Random) => void
}
