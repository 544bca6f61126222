import type { Warning } from '../change-set.ts'
import { more } from '../text/more.ts'

/**
 * The maximum number of warnings to report individually. There is a limit because each warning may list a thousand lines, and a patch may have a million
 * chunks.
 */
const warningLimit = 1000

/** The warnings of a plan: the first thousand in full, then only their number. */
export class WarningList {
  readonly #warnings: Warning[] = []
  #further = 0

  /** Whether further warnings are only counted. */
  get isFull(): boolean {
    return this.#warnings.length >= warningLimit
  }

  add(warning: Warning): void {
    if (this.#warnings.length < warningLimit) this.#warnings.push(warning)
    else this.#further++
  }

  /** Adds the warnings of another list, and those that it has only counted. */
  addAll(other: WarningList): void {
    for (const warning of other.#warnings) this.add(warning)
    this.#further += other.#further
  }

  /** The warnings up to the limit. If there were more, a final warning says how many. */
  list(): readonly Warning[] {
    if (this.#further === 0) return this.#warnings
    return [
      ...this.#warnings,
      { code: 'further-warnings', message: `${more(this.#further, 'warning')}, not listed here` },
    ]
  }
}
