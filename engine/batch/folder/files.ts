import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * Functions for the files in a batch's folder. No sandboxed command can write to that folder. A whole file is written under a temporary name and then renamed;
 * a file that must be created only once gets its final name by a hard link instead.
 */

let counter = 0
/** A temporary name that no other process and no other write uses. */
const besideOf = (path: string, owner: number): string => `${path}.${owner}-${++counter}.new`

/** Replaces a whole file. Only the owner of the new file can read it, since it may contain prompts and code. */
export function writeWhole(path: string, text: string, owner: number): void {
  const beside = besideOf(path, owner)
  writeFileSync(beside, text, { mode: 0o600 })
  renameSync(beside, path)
}

/**
 * Creates a file with its complete content, unless the file exists already.
 *
 * @param isKept whether the file must survive a crash of the machine. Its content is then on the disk before the file
 * appears, and its name is there before this function returns
 * @returns whether this call created the file. Of several simultaneous calls, only one creates it
 */
export function writeOnce(path: string, text: string, owner: number, isKept = true): boolean {
  const beside = besideOf(path, owner)
  const descriptor = openSync(beside, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
    if (isKept) fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  try {
    linkSync(beside, path)
    if (isKept) syncFolder(dirname(path))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Writes a folder's entries to the disk, so that new files in it survive a crash of the machine (see fsync(2)). */
function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } catch (error) {
    // Some network file systems don't support this for folders.
    if (!['EINVAL', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Adds a value to a file of JSON lines. */
export function appendLine(path: string, value: unknown): void {
  appendFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600 })
}

/** The text of a file; undefined if there is no such file. */
export function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** The last bytes of a file, as text; empty if there is no such file. */
export function readEnd(path: string, bytes: number): string {
  if (!existsSync(path)) return ''
  const { size } = statSync(path)
  const length = Math.min(size, bytes)
  const buffer = Buffer.alloc(length)
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, buffer, 0, length, size - length)
  } finally {
    closeSync(descriptor)
  }
  return buffer.toString()
}

/** Adds a line feed if a killed process left the last line unfinished, so that the next line is separate. */
export function mendLastLine(path: string): void {
  const end = readEnd(path, 1)
  if (end !== '' && end !== '\n') appendFileSync(path, '\n')
}
