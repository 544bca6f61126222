/**
 * Gives every distinct run of bytes a number, and finds the number again without making strings.
 * Open addressing over a full hash with a seed of its own, so that no patch can be written to collide.
 */
export class Dictionary {
  readonly #seed = (Math.random() * 0x7fffffff) | 0
  #slots = new Int32Array(64).fill(-1)
  #hashes: number[] = []
  readonly #entries: { readonly bytes: Uint8Array; readonly start: number; readonly end: number }[] = []
  // Which combinations of length and a few bytes occur at all: most lines of a file are told apart by these already.
  #sketches = new Uint8Array(0)

  #last = -1

  get size(): number {
    return this.#entries.length
  }

  /** The number of these bytes, given now if they have none. The bytes are kept by reference. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#hash(bytes, start, end)
    const found = this.#lookUp(hash, bytes, start, end)
    if (found >= 0) return found
    const id = this.#entries.length
    this.#entries.push({ bytes, start, end })
    this.#hashes.push(hash)
    if (this.#entries.length * 2 > this.#slots.length) this.#grow()
    else this.#place(id, hash)
    return id
  }

  /** Makes `find` quicker for very many lines, once all is added: worth its 64 KiB only where a file is long. */
  sketch(): void {
    this.#sketches = new Uint8Array(1 << 16)
    for (const { bytes, start, end } of this.#entries) this.#sketches[sketch(bytes, start, end)] = 1
  }

  /** The number of these bytes, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    // Where lines repeat, comparing costs half of hashing and then comparing.
    if (this.#last >= 0 && this.#equals(this.#last, bytes, start, end)) return this.#last
    if (this.#sketches[sketch(bytes, start, end)] === 0) return -1
    this.#last = this.#lookUp(this.#hash(bytes, start, end), bytes, start, end)
    return this.#last
  }

  #lookUp(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot] ?? -1
      if (id === -1) return -1
      if (this.#hashes[id] === hash && this.#equals(id, bytes, start, end)) return id
    }
  }

  #equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const entry = this.#entries[id]
    if (entry === undefined || entry.end - entry.start !== end - start) return false
    for (let at = start, other = entry.start; at < end; at++, other++) {
      if (bytes[at] !== entry.bytes[other]) return false
    }
    return true
  }

  #hash(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.#seed ^ (end - start)
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
    hash ^= hash >>> 15
    hash = Math.imul(hash, 0x2c1b3c6d)
    return (hash ^ (hash >>> 13)) & 0x7fffffff
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 4).fill(-1)
    for (const [id, hash] of this.#hashes.entries()) this.#place(id, hash)
  }

  #place(id: number, hash: number): void {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    while (this.#slots[slot] !== -1) slot = (slot + 1) & mask
    this.#slots[slot] = id
  }
}

function sketch(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  if (length === 0) return 0
  const early = bytes[start + (length >> 2)] ?? 0
  const middle = bytes[start + (length >> 1)] ?? 0
  const late = bytes[end - 1 - (length >> 2)] ?? 0
  const last = bytes[end - 1] ?? 0
  return (
    (Math.imul(length, 0x9e35) ^ Math.imul(early, 0x85eb) ^ Math.imul(middle, 0xc2b3) ^ (late << 7) ^ last) & 0xffff
  )
}
