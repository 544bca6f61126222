/** The lines of a file as numbers, with the positions of each number. Lines that are not searched for have the number -1. */
export class NumberedLines {
  readonly ids: Int32Array
  // The positions of the lines with the number `id` are `#places[#offsets[id] .. #offsets[id + 1])`, in ascending order.
  readonly #offsets: Int32Array
  readonly #places: Int32Array

  constructor(ids: Int32Array, distinct: number) {
    this.ids = ids
    // These are plain loops over local variables, because the program ends before V8 would optimize more elaborate code.
    const offsets = new Int32Array(distinct + 1)
    let known = 0
    for (let line = 0; line < ids.length; line++) {
      const id = ids[line] ?? -1
      if (id < 0) continue
      offsets[id + 1] = (offsets[id + 1] ?? 0) + 1
      known++
    }
    for (let id = 0; id < distinct; id++) offsets[id + 1] = (offsets[id + 1] ?? 0) + (offsets[id] ?? 0)
    const places = new Int32Array(known)
    const next = offsets.slice()
    for (let line = 0; line < ids.length; line++) {
      const id = ids[line] ?? -1
      if (id < 0) continue
      const place = next[id] ?? 0
      places[place] = line
      next[id] = place + 1
    }
    this.#offsets = offsets
    this.#places = places
  }

  /** How many lines of the file are represented by this number. */
  frequency(id: number): number {
    return (this.#offsets[id + 1] ?? 0) - (this.#offsets[id] ?? 0)
  }

  /** The positions of the lines with this number, in ascending order, but only the first `limit` of them. */
  places(id: number, limit = Infinity): Int32Array {
    const start = this.#offsets[id] ?? 0
    return this.#places.subarray(start, Math.min(start + limit, this.#offsets[id + 1] ?? start))
  }

  /**
   * The first positions at or after `from` at which a block of numbers starts, at most `limit` of them, in ascending order. It examines only the positions of
   * the block's rarest number. If even that number is common, it searches all lines once with the algorithm of Knuth, Morris and Pratt.
   */
  find(block: Int32Array, from: number, limit: number): number[] {
    if (block.length === 0 || block.length > this.ids.length - from) return []
    let rarest = 0
    let rarity = Infinity
    for (let index = 0; index < block.length; index++) {
      const frequency = this.frequency(block[index] ?? 0)
      if (frequency === 0) return []
      if (frequency >= rarity) continue
      rarest = index
      rarity = frequency
    }
    if (rarity > 8 && rarity * Math.min(block.length, 64) > this.ids.length - from)
      return this.#scan(block, from, limit)
    const id = block[rarest] ?? 0
    const found: number[] = []
    const last = this.#offsets[id + 1] ?? 0
    for (let place = this.#firstPlace(id, from + rarest); place < last && found.length < limit; place++) {
      const start = (this.#places[place] ?? 0) - rarest
      if (this.matchesAt(block, start)) found.push(start)
    }
    return found
  }

  /** Whether a block of numbers starts at a line. */
  matchesAt(block: Int32Array, start: number): boolean {
    if (start < 0 || start + block.length > this.ids.length) return false
    for (let index = 0; index < block.length; index++) if (this.ids[start + index] !== block[index]) return false
    return true
  }

  #firstPlace(id: number, from: number): number {
    let low = this.#offsets[id] ?? 0
    let high = this.#offsets[id + 1] ?? 0
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#places[middle] ?? 0) < from) low = middle + 1
      else high = middle
    }
    return low
  }

  #scan(block: Int32Array, from: number, limit: number): number[] {
    const borders = bordersOf(block)
    const found: number[] = []
    let matched = 0
    for (let line = from; line < this.ids.length && found.length < limit; line++) {
      const id = this.ids[line]
      while (matched > 0 && block[matched] !== id) matched = borders[matched - 1] ?? 0
      if (block[matched] === id) matched++
      if (matched === block.length) {
        found.push(line - matched + 1)
        matched = borders[matched - 1] ?? 0
      }
    }
    return found
  }
}

/** The length of the longest border of each prefix of a block (Knuth, Morris and Pratt's failure function). */
function bordersOf(block: Int32Array): Int32Array {
  const borders = new Int32Array(block.length)
  for (let index = 1, length = 0; index < block.length; index++) {
    while (length > 0 && block[index] !== block[length]) length = borders[length - 1] ?? 0
    if (block[index] === block[length]) length++
    borders[index] = length
  }
  return borders
}
