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
  /** Whether it is to be the sandbox's own `/dev/null`, and not the one that Node opens out here. */
  readonly isNull: boolean
  /** To be called right after the start, with the child's own end: gives what the caller may write to. */
  readonly started: (stdin: Writable | null) => Writable | undefined
}

/** Larger ones are passed on bit by bit. */
const largestCopy = 16 * 1024 * 1024

/** The numbers of the null device (null(4)). */
const nullDevice = 0x103

/**
 * What a confined command gets for standard input. Never a file, directory or device of this machine itself, but for a terminal: whoever holds
 * one, however it was opened, can open it again for writing through `/proc/self/fd`, and change its mode and times. A file is read from where
 * it stands, and stands there still for whoever comes next.
 *
 * @param directory of the run, which commands can't get at
 */
export function handedInput(command: Command, directory: string): HandedInput {
  const given = (stdio: HandedInput['stdio'], isNull = false): HandedInput => ({
    stdio,
    isNull,
    started: (stdin) => stdin ?? undefined,
  })
  // A terminal's keys come through a pipe.
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
    // Closed by whoever started us.
    return undefined
  }
}

/** A descriptor of a file without a name that holds what is left of the input. */
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
    // Not to be read at a position, or not to be read at all: passing it on says so.
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

/** Where the input stands; the beginning where it can't be told. */
function offset(): number {
  try {
    return Number(/^pos:\t(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
