import { Writable } from 'node:stream'
import type { StartedProcess } from '../process/started.ts'
import type { Command, Terminal, TerminalSize } from '../sandbox.ts'

/**
 * The character that a keyboard sends for control-D. At the start of a line, it means the end of input. Later in a line, it only submits the text
 * that has been typed so far.
 */
const endOfInput = '\u0004'

/**
 * Connects a child process that runs the helper as a terminal: what is written to its standard input counts as typed, and new sizes are sent to it
 * through `control`.
 */
export function connectTerminal(started: StartedProcess, control: unknown, size: TerminalSize): StartedProcess {
  // If these streams are missing, the child could not be started, and `exit` says why.
  if (!(control instanceof Writable) || started.stdin === undefined) return started
  // An error means that the terminal is closed. Its size then no longer matters, and its end is reported elsewhere.
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

/** A message that tells the helper the size of the terminal: a `struct winsize` (8 bytes). */
export function sizeMessage({ columns, rows }: TerminalSize): Uint8Array {
  const message = Buffer.alloc(8)
  message.writeUInt16LE(rows, 0)
  message.writeUInt16LE(columns, 2)
  return message
}

/**
 * A stream for a terminal's input. It writes to `pipe`. A terminal's own input never ends, so when this stream ends, it types an end of input
 * (control-D). Input that is written after the command has ended is lost.
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

/**
 * Throws `RangeError` if no terminal can have the requested size, and `TypeError` if both a terminal and an input were requested.
 */
export function checkTerminal({ terminal, stdin }: Command): void {
  if (terminal === undefined) return
  if (stdin !== undefined)
    throw new TypeError('a command in a terminal reads its standard input from the terminal: leave stdin out')
  checkSize(terminal)
}

/** A terminal that reports each new size by calling `tell`. */
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
    throw new RangeError(
      `a terminal's columns and rows must be whole numbers from 1 to 65535, but one of them is ${value}`,
    )
  }
}

/**
 * A shell command that sets a terminal's size before the actual command runs. The Docker daemon also sets the size, but that is too late for a
 * command that reads it immediately.
 */
export function firstSize({ terminal }: Pick<Command, 'terminal'>): string {
  return terminal === undefined ? '' : `stty rows ${terminal.rows} cols ${terminal.columns} 2>/dev/null; `
}
