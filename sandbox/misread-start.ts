import { isUtf8 } from 'node:buffer'
import { readFileSync, readlinkSync } from 'node:fs'
import process from 'node:process'

/** The environment variables that determine where this project's programs look for files, and which files they hide from commands. */
export const pathVariables = [
  ...['HOME', 'PATH', 'TMPDIR', 'TMP', 'TEMP'],
  ...['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR', 'CODEX_HOME'],
] as const

/**
 * Why a program must not start, as one sentence for the user; undefined if it may. Node replaces bytes that aren't UTF-8 with U+FFFD in arguments, in
 * environment variables and in the path of the current directory. The program would then work on another file or in another directory, or miss
 * the user's rules. A U+FFFD that is really part of a name is accepted.
 *
 * @param words the last arguments of this process's command line
 */
export function findMisread(words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    const fault = faultOf(word, () => fieldsOf('/proc/self/cmdline').at(at - words.length))
    if (fault !== undefined)
      return `argument ${at + 1} ${fault}. If it names a file, rename the file; otherwise, write the argument in UTF-8`
  }
  for (const name of pathVariables) {
    const fault = faultOfVariable(name, process.env[name])
    if (fault !== undefined) return `the environment variable ${name} ${fault}. Set it to a path in UTF-8`
  }
  const fault = faultOf(currentDirectory(), () => readlinkSync('/proc/self/cwd', 'buffer'))
  return fault && `the path of the current directory ${fault}. Rename the directory, or run the program in another one`
}

/**
 * What is wrong with the value of an environment variable if Node couldn't decode it, as the rest of a sentence; undefined if the value is right, or
 * isn't the one with which this process started.
 *
 * @internal
 */
export function faultOfVariable(name: string, value: string | undefined): string | undefined {
  return faultOf(value, () => {
    const entry = fieldsOf('/proc/self/environ').find(
      (field) => field.indexOf('=') === name.length && field.toString('latin1', 0, name.length) === name,
    )
    return entry?.subarray(name.length + 1)
  })
}

/** @param read reads the bytes that Node decoded as `text`. Only Linux shows them to a process */
function faultOf(text: string | undefined, read: () => Buffer | undefined): string | undefined {
  if (text?.includes('\ufffd') !== true || process.platform !== 'linux') return undefined
  let bytes: Buffer | undefined
  try {
    bytes = read()
  } catch {
    return "contains U+FFFD, which may be a replacement for bytes that are not UTF-8; this can't be checked, because /proc can't be read"
  }
  if (bytes === undefined || isUtf8(bytes) || bytes.toString() !== text) return undefined
  const shown = bytes
    .toString('latin1')
    .replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return `is not valid UTF-8, so this program would read it as a different text: ${shown.slice(0, 300)}`
}

/** The fields of a file in /proc, each of which ends with a NUL. */
function fieldsOf(file: string): readonly Buffer[] {
  return readFileSync(file)
    .toString('latin1')
    .split('\0')
    .slice(0, -1)
    .map((field) => Buffer.from(field, 'latin1'))
}

function currentDirectory(): string | undefined {
  try {
    return process.cwd()
  } catch {
    // The directory was removed.
    return undefined
  }
}
