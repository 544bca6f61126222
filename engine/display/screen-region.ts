import { fit } from './fit.ts'

/** A terminal to draw on. */
export type Screen = {
  /** The width of the terminal; 0 if the terminal doesn't report it. */
  readonly columns: number
  write(text: string): void
}

/** Returns the width of a terminal, or the usual width if it doesn't report one. */
export function columnsOf({ columns }: Screen): number {
  return columns > 0 ? columns : 80
}

/** A line in two forms: as displayed (without escape sequences) and as written to the terminal (with them). */
type DrawnLine = readonly [plain: string, painted: string]

/** Lines at the bottom of a terminal that are redrawn in place. The cursor stays in the last line. */
export class ScreenRegion {
  readonly #screen: Screen
  #drawn: readonly string[] = []

  constructor(screen: Screen) {
    this.#screen = screen
  }

  /** Replaces the previous lines with the given ones. No line may be wider than the terminal. */
  draw(lines: readonly DrawnLine[]): void {
    this.#screen.write(`${this.#erasing('\r\u001b[2K')}${lines.map(([, painted]) => painted).join('\n')}`)
    this.#drawn = lines.map(([plain]) => plain)
  }

  /** Removes the lines and leaves the cursor where the first line began. */
  erase(): void {
    const text = this.#erasing('')
    if (text !== '') this.#screen.write(text)
    this.#drawn = []
  }

  /**
   * Returns the escape sequences that erase the drawn lines.
   *
   * @param otherwise what to return if nothing is drawn
   */
  #erasing(otherwise: string): string {
    const [, ...more] = this.#drawn.flatMap((line) => this.#rows(line))
    return this.#drawn.length === 0 ? otherwise : `\r\u001b[2K${more.map(() => '\u001b[1A\u001b[2K').join('')}`
  }

  /** Splits a line into the rows that it occupies now. A terminal that was made narrower has wrapped the line. */
  #rows(line: string): readonly string[] {
    const columns = columnsOf(this.#screen)
    const rows: string[] = []
    let left = line
    while (rows.length < 100 && left !== '' && fit(left, columns) !== left) {
      rows.push(left.slice(0, columns))
      left = left.slice(columns)
    }
    return [...rows, left]
  }
}
