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

/**
 * Files of a batch's folder, which no command can write to. Whole files are written beside their place and renamed; what must be made once is linked.
 */

let counter = 0
/** A name beside a file that no other process and no other write has. */
const besideOf = (path: string, owner: number): string => `${path}.${owner}-${++counter}.new`

/** Writes a whole file in the place of what was there. Readable by its owner alone: it may hold prompts and code. */
export function writeWhole(path: string, text: string, owner: number): void {
  const beside = besideOf(path, owner)
  writeFileSync(beside, text, { mode: 0o600 })
  renameSync(beside, path)
}

/**
 * Makes a file, whole, where there is none.
 *
 * @returns whether this call made it: of several at once, one does
 */
export function writeOnce(path: string, text: string, owner: number): boolean {
  const beside = besideOf(path, owner)
  const descriptor = openSync(beside, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  try {
    linkSync(beside, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Adds a line to a file. */
export function appendLine(path: string, value: unknown): void {
  appendFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600 })
}

/** The text of a file; undefined where there is none. */
export function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** The last bytes of a file, as text; empty where there is none. */
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

/** Ends the last line of a file that whoever wrote it was killed in, so that the next is one by itself. */
export function mendLastLine(path: string): void {
  const end = readEnd(path, 1)
  if (end !== '' && end !== '\n') appendFileSync(path, '\n')
}
