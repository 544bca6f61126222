import { fit } from './fit.ts'

/** A terminal to draw on. */
export type Screen = {
  /** 0 where it doesn't say. */
  readonly columns: number
  write(text: string): void
}

/** The width of a terminal; a terminal that doesn't report it gets the usual width. */
export function columnsOf({ columns }: Screen): number {
  return columns > 0 ? columns : 80
}

/** A line as displayed, without escape sequences, and as written. */
type DrawnLine = readonly [plain: string, painted: string]

/** Lines at the bottom of a terminal that are redrawn in place; the cursor rests in the last one. */
export class ScreenRegion {
  readonly #screen: Screen
  #drawn: readonly string[] = []

  constructor(screen: Screen) {
    this.#screen = screen
  }

  /** Replaces the lines from before with these. None may be wider than the terminal. */
  draw(lines: readonly DrawnLine[]): void {
    this.#screen.write(`${this.#erasing('\r\u001b[2K')}${lines.map(([, painted]) => painted).join('\n')}`)
    this.#drawn = lines.map(([plain]) => plain)
  }

  /** Takes the lines away; the cursor is where the first one began. */
  erase(): void {
    const text = this.#erasing('')
    if (text !== '') this.#screen.write(text)
    this.#drawn = []
  }

  /** @param otherwise what to write where nothing is drawn */
  #erasing(otherwise: string): string {
    const [, ...more] = this.#drawn.flatMap((line) => this.#rows(line))
    return this.#drawn.length === 0 ? otherwise : `\r\u001b[2K${more.map(() => '\u001b[1A\u001b[2K').join('')}`
  }

  /** A line for each row that it takes now: a terminal that was made narrower has wrapped it. */
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
