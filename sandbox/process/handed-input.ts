import { closeSync, createReadStream, fstatSync, readSync, writeSync, type Stats } from 'node:fs'
import { isatty } from 'node:tty'
import type { Writable } from 'node:stream'
import { readFileSync } from '../host-paths.ts'
import type { Command } from '../sandbox.ts'
import { unnamedFile } from './long-command.ts'

/** A command's standard input. */
type HandedInput = {
  /** The value for the `stdio` option of `child_process`. */
  readonly stdio: 'ignore' | 'pipe' | 'inherit' | number
  /** Whether standard input must be the sandbox's own `/dev/null` rather than the host's, which Node would open. */
  readonly isNull: boolean
  /** Returns the stream that the caller may write to. Call this right after the child has started, with our end of the child's standard input. */
  readonly started: (stdin: Writable | null) => Writable | undefined
}

/** The largest input to copy, in bytes. Larger inputs are streamed. */
const largestCopy = 16 * 1024 * 1024

/** The device number of the null device (null(4)). */
const nullDevice = 0x103

/**
 * What a confined command gets as its standard input. It never gets a file, directory or device of this machine itself, unless that is a terminal: a
 * process that holds such a descriptor, even one opened read-only, can reopen it for writing through `/proc/self/fd`, and can change its mode and
 * times. The command gets a copy or a pipe instead. A file is read from its current offset. The offset doesn't change, so the next reader starts at
 * the same position.
 *
 * @param directory the run's own directory, which commands can't reach
 */
export function handedInput(command: Command, directory: string): HandedInput {
  const given = (stdio: HandedInput['stdio'], isNull = false): HandedInput => ({
    stdio,
    isNull,
    started: (stdin) => stdin ?? undefined,
  })
  // If the command has a terminal, the terminal gets its input through a pipe.
  if (command.terminal !== undefined || command.stdin === 'pipe') return given('pipe')
  if (command.stdin !== 'inherit') return given('ignore', true)
  const stat = statInput()
  if (stat === undefined || (stat.isCharacterDevice() && stat.rdev === nullDevice)) return given('ignore', true)
  if (stat.isFIFO() || stat.isSocket() || isatty(0)) return given('inherit')
  const copy = stat.isFile() && stat.size <= largestCopy ? copyOf(directory) : undefined
  if (copy === undefined) return { stdio: 'pipe', isNull: false, started: passOn }
  return {
    stdio: copy,
    isNull: false,
    started: () => {
      closeSync(copy)
      return undefined
    },
  }
}

function statInput(): Stats | undefined {
  try {
    return fstatSync(0)
  } catch {
    // Standard input was already closed when this program was started.
    return undefined
  }
}

/** Copies the rest of this process's standard input to an unnamed file. Returns its descriptor; undefined if the input can't be read at an offset. */
function copyOf(directory: string): number | undefined {
  try {
    return unnamedFile(directory, 'input', (target) => {
      const chunk = Buffer.alloc(1024 * 1024)
      let position = offset()
      for (let got = 1; got > 0; position += got) {
        got = readSync(0, chunk, 0, chunk.length, position)
        writeSync(target, chunk, 0, got)
      }
    })
  } catch {
    // The input can't be read at an offset, or can't be read at all. It is then streamed, which reports any error.
    return undefined
  }
}

/** Streams this process's standard input to the command. If it is a directory, the command gets no data. */
function passOn(to: Writable | null): undefined {
  const from = createReadStream('', { fd: 0, start: offset(), autoClose: false })
  from.on('error', () => to?.end())
  to?.on('error', () => from.destroy())
  to?.on('close', () => from.destroy())
  if (to !== null) from.pipe(to)
}

/** The current offset in this process's standard input; 0 if it is unknown. */
function offset(): number {
  try {
    return Number(/^pos:\t(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
