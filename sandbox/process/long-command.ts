import { closeSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openSync, rmSync } from '../host-paths.ts'
import { randomName } from '../random-name.ts'
import { quote } from '../shell.ts'
import type { Command } from '../sandbox.ts'

type Argv = Command['argv']

/** A command whose arguments are few and short, and the text that its shell reads from a descriptor in place of the others. */
type ShortCommand = { readonly argv: Argv; readonly text: string }

/**
 * What all arguments of a command may take, in bytes, and how many there may be. The kernel takes 128 KiB for one argument (`MAX_ARG_STRLEN`) and for
 * all of them if the stack is limited to less than 512 KiB; bwrap takes 9,000 arguments, its own and those of our programs before the command included.
 */
const most = { bytes: 96 * 1024, arguments: 8000 }

const shells = /(?:^|\/)(?:ba|da|z|k|mk)?sh$/

/**
 * Returns what to start in place of a command that is too long to start: a shell that reads the command from a descriptor, to its end, closes the
 * descriptor, and only then begins. Standard input is left alone. A shell's script (`sh -c SCRIPT`) is read by that shell itself, so no limit applies
 * to it; any other command is executed with all its arguments, which the kernel may still refuse. Returns undefined for a command that isn't too long.
 *
 * @param descriptor where the shell finds the text. Shells understand only one digit
 */
export function shortenCommand(argv: Argv, descriptor: number): ShortCommand | undefined {
  if (fits(argv)) return undefined
  const read = `eval "exec ${descriptor}<&-; $(command -p cat <&${descriptor})"`
  const [program, ...words] = argv
  const at = shells.test(program) ? words.findIndex((word) => /^-[a-bd-zA-Z]*c/.test(word)) + 1 : 0
  const script = at === 0 ? undefined : words[at]
  if (script !== undefined) {
    const short: Argv = [program, ...words.with(at, read)]
    if (fits(short)) return { argv: short, text: script }
  }
  return { argv: ['/bin/sh', '-c', read, 'sh'], text: `exec ${argv.map(quote).join(' ')}` }
}

function fits(argv: Argv): boolean {
  let bytes = 0
  for (const word of argv) bytes += Buffer.byteLength(word) + 1
  return bytes <= most.bytes && argv.length <= most.arguments
}

/** A command as it is started, with the descriptor that it needs besides its three streams. */
type HandedCommand = {
  readonly argv: Argv
  /** The value for the `stdio` option of `child_process`, at the descriptor's number; empty if the command needs none. */
  readonly stdio: readonly number[]
  /** The descriptors that programs which start before the command leave open. */
  readonly kept: readonly number[]
  /** Closes our copy. Call this when the command has started, or can't be. */
  readonly started: () => void
}

/**
 * Shortens a command if it is too long, and hands over the rest in a file without a name, opened for reading.
 *
 * @param directory the run's own directory, which commands can't reach
 * @param descriptor the descriptor's number in the command
 */
export function handedCommand(argv: Argv, directory: string, descriptor: number): HandedCommand {
  const short = shortenCommand(argv, descriptor)
  if (short === undefined) return { argv, stdio: [], kept: [], started: () => undefined }
  const file = unnamedFile(directory, 'command', (target) => writeAll(target, short.text))
  return { argv: short.argv, stdio: [file], kept: [descriptor], started: () => closeSync(file) }
}

/** Writes a file, and removes its name. Returns a descriptor that reads it. */
export function unnamedFile(directory: string, prefix: string, write: (descriptor: number) => void): number {
  const path = join(directory, `${prefix}-${randomName()}`)
  const target = openSync(path, 'wx', 0o600)
  try {
    write(target)
    return openSync(path, 'r')
  } finally {
    closeSync(target)
    rmSync(path, { force: true })
  }
}

function writeAll(target: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) at += writeSync(target, bytes, at)
}
