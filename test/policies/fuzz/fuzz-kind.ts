import type { Random } from './random.ts'

/** A kind of random text, and the way to run an allowed one. */
export type FuzzKind = {
  readonly make: (random: Random) => string
  /** Command lines, run by bash in a folder with the files `a` and `d/b`. */
  readonly runs: (text: string, random: Random) => readonly string[]
  /** Whether the text could do harm. Only then it counts and is worth running. */
  readonly isArmed: (text: string) => boolean
  /** Called with each allowed text. */
  readonly learn?: (text: string, random: Random) => void
}
