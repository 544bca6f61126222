/**
 * Gives every distinct run of bytes a number, and finds the number again without creating strings or objects. It is a hash table with open addressing. Each
 * dictionary has its own random seed, so that nobody can write a patch that causes collisions.
 */
export class Dictionary {
  readonly #seed = (Math.random() * 0x7fffffff) | 0
  readonly #slots: Int32Array
  readonly #hashes: Int32Array
  // The run with the number `id`: `#text[#starts[id] .. #starts[id + 1])`.
  readonly #text: Uint8Array
  readonly #starts: Int32Array
  // Records which sketches (see `sketch`) occur. For most lines that aren't in the dictionary, the sketch alone shows this.
  readonly #sketches: Uint8Array
  readonly #sketchMask: number

  #size = 0

  /** @param runs the maximum number of runs to store. @param bytes the maximum number of bytes in all runs together */
  constructor(runs: number, bytes: number) {
    this.#slots = new Int32Array(2 << (32 - Math.clz32(runs))).fill(-1)
    this.#hashes = new Int32Array(runs)
    this.#text = new Uint8Array(bytes)
    this.#starts = new Int32Array(runs + 1)
    // The table usually has more than thirty times as many entries as there are runs, so it distinguishes nearly all lines. If a line has the same
    // sketch as another, the only cost is that its hash is computed. The table isn't larger, because a patch of a thousand files creates a thousand
    // dictionaries, and all should stay in the processor's cache.
    const sketches = 1 << Math.min(18, 37 - Math.clz32(runs))
    this.#sketches = new Uint8Array(sketches)
    this.#sketchMask = sketches - 1
  }

  get size(): number {
    return this.#size
  }

  /** Returns the number that stands for these bytes. If they have no number yet, they get a new one. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#hash(bytes, start, end)
    const slot = this.#findSlot(hash, bytes, start, end)
    const found = this.#slots[slot] ?? -1
    if (found >= 0) return found
    const id = this.#size++
    this.#slots[slot] = id
    this.#hashes[id] = hash
    this.#sketches[sketch(bytes, start, end) & this.#sketchMask] = 1
    const text = this.#text
    let to = this.#starts[id] ?? 0
    for (let at = start; at < end; at++) text[to++] = bytes[at] ?? 0
    this.#starts[id + 1] = to
    return id
  }

  /** Returns the number that stands for these bytes, or -1 if they have none. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (this.#sketches[sketch(bytes, start, end) & this.#sketchMask] === 0) return -1
    const slot = this.#findSlot(this.#hash(bytes, start, end), bytes, start, end)
    return this.#slots[slot] ?? -1
  }

  /** The slot of these bytes, or the empty slot into which they would be put. */
  #findSlot(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = this.#slots[slot] ?? -1
      if (id === -1 || (this.#hashes[id] === hash && this.#equals(id, bytes, start, end))) return slot
    }
  }

  #equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[id] ?? 0
    if ((this.#starts[id + 1] ?? 0) - from !== end - start) return false
    const text = this.#text
    for (let at = start, other = from; at < end; at++, other++) if (bytes[at] !== text[other]) return false
    return true
  }

  #hash(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.#seed ^ (end - start)
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
    hash ^= hash >>> 15
    hash = Math.imul(hash, 0x2c1b3c6d)
    return (hash ^ (hash >>> 13)) & 0x7fffffff
  }
}

/**
 * An 18-bit number that distinguishes most lines. It is made from the length and from seven bytes spread over the line (all bytes, if there are fewer
 * than eight), so it depends only on the line itself.
 */
function sketch(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  if (length < 8) {
    let mixed = length
    for (let at = start; at < end; at++) mixed = Math.imul(mixed ^ (bytes[at] ?? 0), 0x01000193)
    return (mixed ^ (mixed >>> 15)) & 0x3ffff
  }
  const quarter = length >> 2
  const middle = start + (length >> 1)
  const before =
    (bytes[start + (length >> 3)] ?? 0) |
    ((bytes[start + quarter] ?? 0) << 8) |
    ((bytes[middle] ?? 0) << 16) |
    ((bytes[middle + 1] ?? 0) << 24)
  const after =
    (bytes[end - 1] ?? 0) | ((bytes[end - 2] ?? 0) << 8) | ((bytes[end - 1 - quarter] ?? 0) << 16) | (length << 24)
  return Math.imul(Math.imul(before, 0x85ebca6b) ^ after, 0x9e3779b1) >>> 14
}
