import { isUtf8 } from 'node:buffer'
import { fstatSync, readFileSync, readSync, writeSync } from 'node:fs'
import process from 'node:process'

/** Reads the whole standard input. A terminal counts as empty, because nobody types a patch by hand. */
export function readStandardInput(): Buffer {
  try {
    const stats = fstatSync(0)
    if (stats.isFile()) return readFileSync(0)
    // `node:tty` loads sockets and streams, so it is loaded only if the input may be a terminal.
    if (stats.isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(0)) return Buffer.alloc(0)
    return readPipe()
  } catch (error) {
    if (errno(error) === 'EBADF') return Buffer.alloc(0)
    throw error
  }
}

function readPipe(): Buffer {
  let buffer = Buffer.allocUnsafe(1 << 16)
  let length = 0
  for (;;) {
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2)
      buffer.copy(larger)
      buffer = larger
    }
    try {
      const read = readSync(0, buffer, length, buffer.length - length, null)
      if (read === 0) return buffer.subarray(0, length)
      length += read
    } catch (error) {
      if (errno(error) === 'EOF') return buffer.subarray(0, length)
      if (errno(error) !== 'EAGAIN') throw error
      // The pipe is non-blocking, so wait for input. There is nothing else to do in the meantime.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

/** Whether an argument was valid UTF-8 before Node decoded it. Always true on systems other than Linux, where we can't read the original bytes. */
export function isArgumentUtf8(argument: string): boolean {
  if (!argument.includes('\uFFFD') || process.platform !== 'linux') return true
  return isUtf8(readFileSync('/proc/self/cmdline'))
}

/** The error for output that can't be written, for example because the disk is full. */
export class LostOutput extends Error {
  override readonly name = 'LostOutput'
}

/**
 * Writes a whole text to a descriptor, without the cost of setting up a stream. It is not an error if the reader closed the pipe, or if standard error
 * can't be written, because that can't be reported anywhere.
 *
 * @throws LostOutput if standard output can't be written
 */
export function write(descriptor: 1 | 2, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(descriptor, bytes, at)
    } catch (error) {
      if (errno(error) === 'EPIPE' || errno(error) === 'EBADF') return
      if (errno(error) !== 'EAGAIN') {
        if (descriptor === 2) return
        throw new LostOutput(`Standard output can't be written: ${(error as Error).message}.`, { cause: error })
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

function errno(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
