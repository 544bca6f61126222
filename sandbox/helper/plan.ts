import { encodeText } from '../path-bytes.ts'

/** A value in a plan: a number below 2^64, a text without NUL, or bytes. */
export type Value = number | bigint | string | Uint8Array

/** The version of the format, which `plan.c` checks. */
const version = 1

/** Encodes a plan, which tells the helper what to do. `plan.h` describes the format. */
export function encodePlan(values: readonly Value[]): Buffer {
  const parts = [version, ...values].map((value) => (typeof value === 'string' ? terminated(value) : value))
  let size = 0
  for (const part of parts) size += typeof part === 'object' ? 8 + part.length : 8
  const buffer = Buffer.allocUnsafe(8 + size)
  // A DataView is used because a Buffer's own methods check their arguments, which would take longer than everything else here.
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  let at = 0
  const putNumber = (value: number | bigint): void => {
    if (typeof value === 'bigint') view.setBigUint64(at, value, true)
    else {
      view.setUint32(at, value, true)
      view.setUint32(at + 4, value / 2 ** 32, true)
    }
    at += 8
  }
  putNumber(size)
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'object') putNumber(part)
    else {
      // The length of a text doesn't count the NUL at its end.
      putNumber(part.length - (typeof values[index - 1] === 'string' ? 1 : 0))
      buffer.set(part, at)
      at += part.length
    }
  }
  return buffer
}

/** A list: its number of items, followed by the values of each. */
export function list(items: readonly (readonly Value[])[]): readonly Value[] {
  return [items.length, ...items.flat()]
}

function terminated(text: string): Buffer {
  return encodeText(`${text}\0`)
}
