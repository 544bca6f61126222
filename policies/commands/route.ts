import type { Location, Place } from './place.ts'
import type { SimpleCommand } from './simple-command.ts'
import type { Variables } from './variables.ts'
import { anywhere, either, moved, type Whereabouts } from './whereabouts.ts'

/** What a first walk over a text finds out for the second one: which parts of the text change the folder in a way that reaches other parts. */
export class Moves {
  /** Loops at whose end the shell may be in another folder than at their beginning. */
  readonly loops = new Set<unknown>()
  /** Functions that may change the folder. */
  readonly functions = new Set<string>()
  /** Whether any command may change the folder. */
  any = false
}

/** Where the shell may be while a text is walked. */
export class Route {
  readonly moves: Moves
  #at: Whereabouts
  /** Where the shell is if the last command failed. */
  #failed: Whereabouts
  /** Where loops may have been left early. */
  #left: Whereabouts | undefined

  constructor(start: Whereabouts, moves: Moves) {
    this.moves = moves
    this.#at = start
    this.#failed = start
  }

  get here(): readonly Location[] {
    return this.#at.here.length === 0 ? anywhere.here : this.#at.here
  }

  /** The last command leads somewhere, unless it fails. */
  #goes(to: Whereabouts): void {
    // A shell that ends goes nowhere, and nothing comes after it.
    this.#failed = to.here.length === 0 ? to : this.#at
    this.#at = to
    this.moves.any ||= to.here.length > 0
  }

  /** Follows what commands, one of which runs, do to the folder in which the shell works. Returns whether they may change it. */
  follow(commands: readonly SimpleCommand[], place: Place, variables: Variables): boolean {
    const names = commands.map(({ words }) => words[0]?.text ?? '')
    if (names.some((name) => name === 'break' || name === 'continue')) this.#leave()
    const assigned = (name: string): boolean => variables.isAssigned(name)
    const ends = commands.map(({ words }, at) =>
      this.moves.functions.has(names[at] ?? '') ? anywhere : moved(words, this.#at, place, assigned),
    )
    if (ends.every((end) => end === undefined)) return false
    this.#goes(either(...ends.map((end) => end ?? this.#at)))
    return true
  }

  /** What follows runs whether or not the last command succeeded. */
  settle(): Whereabouts {
    this.#at = either(this.#at, this.#failed)
    this.#failed = this.#at
    return this.#at
  }

  negate(): void {
    ;[this.#at, this.#failed] = [this.#failed, this.#at]
  }

  /** Walks a part that runs in a shell of its own. */
  apart(walk: () => void): void {
    const [at, failed] = [this.#at, this.#failed]
    walk()
    this.#at = at
    this.#failed = failed
  }

  /** Walks a part that might not run. */
  maybe(walk: () => void): void {
    const before = this.settle()
    walk()
    this.#join(before)
  }

  /** Walks the command after an operator. */
  after(operator: string | undefined, walk: () => void): void {
    const [succeeded, failed] = [this.#at, this.#failed]
    if (operator === '||') this.#at = failed
    this.#failed = this.#at
    walk()
    if (operator === '&&') this.#failed = either(failed, this.#failed)
    if (operator === '||') this.#at = either(succeeded, this.#at)
  }

  /** Walks the alternatives after a condition: the first one runs if it holds. `last` tells whether the second one always runs otherwise. */
  choose(holds: () => void, otherwise: () => void): void {
    const failed = this.#failed
    this.#failed = this.#at
    holds()
    const end = this.settle()
    this.#at = failed
    this.#failed = failed
    otherwise()
    this.#join(end)
  }

  /** Walks alternatives of which one runs, or none. A later one may also continue where the one before ended. */
  anyOf(parts: readonly (() => void)[]): void {
    const before = this.settle()
    for (const part of parts) {
      this.#join(before)
      part()
    }
    this.#join(before)
  }

  /** Walks the body of a loop. */
  again(loop: unknown, walk: () => void): void {
    const before = this.moves.loops.has(loop) ? either(this.settle(), anywhere) : this.settle()
    this.#at = before
    this.#failed = before
    walk()
    const end = this.settle()
    if (end.here.some((folder) => !before.here.includes(folder)) || end.stack?.length !== before.stack?.length)
      this.moves.loops.add(loop)
    this.#join(this.#left === undefined ? before : either(before, this.#left))
  }

  /** Walks the body of a function, which may be called from anywhere. */
  called(name: string, walk: () => void): void {
    this.apart(() => {
      const start = this.moves.any ? anywhere : this.#at
      this.#at = start
      this.#failed = start
      const { any } = this.moves
      this.moves.any = false
      walk()
      if (this.moves.any) this.moves.functions.add(name)
      this.moves.any ||= any
    })
  }

  /** The loop may end here. */
  #leave(): void {
    this.#left = this.#left === undefined ? this.#at : either(this.#left, this.#at)
  }

  #join(other: Whereabouts): void {
    this.#at = either(this.settle(), other)
    this.#failed = this.#at
  }
}
