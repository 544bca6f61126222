import {
  closeSync,
  createReadStream,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import type { Writable } from 'node:stream'
import { randomName } from '../random-name.ts'
import type { Command } from '../sandbox.ts'

/** A command's standard input. */
type HandedInput = {
  /** As `child_process` spells it. */
  readonly stdio: 'ignore' | 'pipe' | 'inherit' | number
  /** Whether standard input must be the sandbox's own `/dev/null`, not the one that Node opens on the host. */
  readonly isNull: boolean
  /** Called right after the start with the child's own end. Returns the stream that the caller may write to. */
  readonly started: (stdin: Writable | null) => Writable | undefined
}

/** Larger inputs are streamed instead of copied. */
const largestCopy = 16 * 1024 * 1024

/** The numbers of the null device (null(4)). */
const nullDevice = 0x103

/**
 * What a confined command gets for standard input. It is never a file, directory or device of this machine itself, except a terminal: a process that
 * holds such a descriptor, however it was opened, can reopen it for writing through `/proc/self/fd`, and change its mode and times. A file is read
 * from its current offset, and that offset stays the same for the next reader.
 *
 * @param directory the run's own, which commands can't reach
 */
export function handedInput(command: Command, directory: string): HandedInput {
  const given = (stdio: HandedInput['stdio'], isNull = false): HandedInput => ({
    stdio,
    isNull,
    started: (stdin) => stdin ?? undefined,
  })
  // The input of a terminal comes through a pipe.
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
    // The process that started us closed it.
    return undefined
  }
}

/** A descriptor of an unnamed file that contains the rest of the input. */
function copyOf(directory: string): number | undefined {
  const path = join(directory, `input-${randomName()}`)
  const target = openSync(path, 'wx', 0o600)
  try {
    const chunk = Buffer.alloc(1024 * 1024)
    let position = offset()
    for (let got = 1; got > 0; position += got) {
      got = readSync(0, chunk, 0, chunk.length, position)
      writeSync(target, chunk, 0, got)
    }
    return openSync(path, 'r')
  } catch {
    // The input can't be read at a position, or not at all: streaming it will report the error.
    return undefined
  } finally {
    closeSync(target)
    rmSync(path, { force: true })
  }
}

/** Passes the input on as it is read; a directory reads as empty. */
function passOn(to: Writable | null): undefined {
  const from = createReadStream('', { fd: 0, start: offset(), autoClose: false })
  from.on('error', () => to?.end())
  to?.on('error', () => from.destroy())
  to?.on('close', () => from.destroy())
  if (to !== null) from.pipe(to)
}

/** The current offset of the input; 0 if it is unknown. */
function offset(): number {
  try {
    return Number(/^pos:\t(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
