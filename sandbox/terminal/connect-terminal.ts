import { Writable } from 'node:stream'
import type { StartedProcess } from '../process/started.ts'
import type { Command, Terminal, TerminalSize } from '../sandbox.ts'
import { sizeMessage } from './terminal-program.ts'

/** What a keyboard sends for the end of input (control-D). It ends a line that has begun, and ends input at the start of one. */
const endOfInput = '\u0004'

/** Our side of a child that runs our terminal program: its standard input is the keyboard's, and sizes are sent through `control`. */
export function connectTerminal(started: StartedProcess, control: unknown, size: TerminalSize): StartedProcess {
  // Without these streams there is no child, and its exit says why.
  if (!(control instanceof Writable) || started.stdin === undefined) return started
  // A closed terminal has no size, and its end is reported elsewhere.
  control.on('error', () => undefined)
  control.write(sizeMessage(size))
  return {
    ...started,
    stdin: keyboard(started.stdin),
    terminal: terminalThrough((size) => void control.write(sizeMessage(size))),
    release: () => {
      control.destroy()
      started.release()
    },
  }
}

/**
 * A stream for the input of a terminal that reads `pipe`. Ending the stream types an end of input, since a terminal's own input never ends. Input
 * after the command's end is lost.
 */
export function keyboard(pipe: Writable): Writable {
  let lineBegun = false
  pipe.on('error', () => undefined)
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (chunk.length > 0) lineBegun = !'\r\n\u0004'.includes(String.fromCharCode(chunk.at(-1) ?? 0))
      pipe.write(chunk, () => done())
    },
    final: (done) => {
      pipe.write(lineBegun ? endOfInput + endOfInput : endOfInput, () => done())
    },
  })
}

/** Throws `RangeError` for a size that no terminal can have, and `TypeError` for a command that asks for another standard input too. */
export function checkTerminal({ terminal, stdin }: Command): void {
  if (terminal === undefined) return
  if (stdin !== undefined) throw new TypeError('a command in a terminal has no other standard input: leave stdin out')
  checkSize(terminal)
}

/** A terminal that reports new sizes through `tell`. */
export function terminalThrough(tell: (size: TerminalSize) => void): Terminal {
  return {
    resize: (size) => {
      checkSize(size)
      tell(size)
    },
  }
}

function checkSize({ columns, rows }: TerminalSize): void {
  for (const value of [columns, rows]) {
    if (Number.isInteger(value) && value >= 1 && value <= 0xffff) continue
    throw new RangeError(`a terminal's columns and rows are whole numbers from 1 to 65535, not ${value}`)
  }
}

/**
 * A shell command that first sets a terminal's size. The size arrives later through the daemon, which would be too late for a command that asks at
 * once.
 */
export function firstSize({ terminal }: Pick<Command, 'terminal'>): string {
  return terminal === undefined ? '' : `stty rows ${terminal.rows} cols ${terminal.columns} 2>/dev/null; `
}
