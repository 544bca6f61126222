import { counted } from './counted.ts'

/**
 * Collects a command's output in bounded memory, because a command may print without end. Keeps the first and the last bytes and counts the bytes in between.
 */
export class OutputBuffer {
  readonly #headLimit: number
  readonly #tailLimit: number
  readonly #head: Uint8Array[] = []
  readonly #tail: Uint8Array[] = []
  #headBytes = 0
  #tailBytes = 0
  #omitted = 0

  /** @param limit the maximum number of bytes to keep, half of them from the start and half from the end */
  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit / 2)
    this.#tailLimit = Math.floor(limit / 2)
  }

  /** The number of bytes dropped from the middle. */
  get omitted(): number {
    return this.#omitted
  }

  push(bytes: Uint8Array): void {
    const remaining = this.#headLimit - this.#headBytes
    if (remaining > 0) {
      const part = bytes.subarray(0, remaining)
      this.#head.push(part)
      this.#headBytes += part.length
    }
    const rest = remaining > 0 ? bytes.subarray(remaining) : bytes
    if (rest.length === 0) return
    this.#tail.push(rest)
    this.#tailBytes += rest.length
    this.#dropOldTail()
  }

  /** Returns the kept bytes, with a line that says how many are missing, if any. */
  toBytes(): Buffer {
    const gap = this.#omitted === 0 ? [] : [Buffer.from(`\n[... ${counted(this.#omitted, 'byte')} left out ...]\n`)]
    return Buffer.concat([...this.#head, ...gap, ...this.#tail])
  }

  /** Returns the last bytes, at most `limit`. */
  tail(limit: number): Buffer {
    const parts: Uint8Array[] = []
    let missing = limit
    for (const list of [this.#tail, this.#head]) {
      for (let index = list.length - 1; index >= 0 && missing > 0; index--) {
        const part = list[index]?.subarray(-missing) ?? new Uint8Array()
        parts.unshift(part)
        missing -= part.length
      }
      // If bytes were omitted, the head doesn't directly precede the tail, so its bytes are not returned.
      if (this.#omitted > 0) break
    }
    return Buffer.concat(parts)
  }

  #dropOldTail(): void {
    while (this.#tailBytes > this.#tailLimit) {
      const first = this.#tail[0]
      if (first === undefined) return
      const excess = this.#tailBytes - this.#tailLimit
      const dropped = Math.min(excess, first.length)
      if (dropped === first.length) this.#tail.shift()
      else this.#tail[0] = first.subarray(dropped)
      this.#tailBytes -= dropped
      this.#omitted += dropped
    }
  }
}
