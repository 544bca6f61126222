import { validateHeaderName, validateHeaderValue } from 'node:http'

/**
 * The headers of a request or an answer, with the methods of the web's `Headers`. In the built program, the vendors' SDKs use this class, because the
 * global one is part of Node's `fetch`, which takes longer to load than all the other modules that a request needs put together.
 *
 * See https://fetch.spec.whatwg.org/#headers-class
 */
export class PlainHeaders implements Headers {
  readonly #values = new Map<string, readonly string[]>()

  /**
   * @param init pairs of names and values, or an object with the names as keys
   * @throws TypeError if a name or value contains a character that HTTP doesn't allow
   */
  constructor(init: Iterable<readonly [string, string]> | Readonly<Record<string, string>> = []) {
    const pairs = Symbol.iterator in init ? init : Object.entries(init)
    for (const [name, value] of pairs as Iterable<readonly [string, string]>) this.append(name, value)
  }

  append(name: string, value: string): void {
    const key = keyOf(name)
    this.#values.set(key, [...(this.#values.get(key) ?? []), checked(name, value)])
  }

  set(name: string, value: string): void {
    this.#values.set(keyOf(name), [checked(name, value)])
  }

  delete(name: string): void {
    this.#values.delete(keyOf(name))
  }

  get(name: string): string | null {
    return this.#values.get(keyOf(name))?.join(', ') ?? null
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])]
  }

  has(name: string): boolean {
    return this.#values.has(keyOf(name))
  }

  forEach(act: (value: string, name: string, headers: Headers) => void): void {
    for (const [name, value] of this) act(value, name, this)
  }

  entries(): MapIterator<[string, string]> {
    return this.#joined().entries()
  }

  keys(): MapIterator<string> {
    return this.#joined().keys()
  }

  values(): MapIterator<string> {
    return this.#joined().values()
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries()
  }

  #joined(): Map<string, string> {
    const sorted = [...this.#values].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return new Map(sorted.map(([name, values]) => [name, values.join(', ')]))
  }
}

function keyOf(name: string): string {
  validateHeaderName(name)
  return name.toLowerCase()
}

function checked(name: string, value: string): string {
  // As the standard requires, whitespace around a value is removed.
  let [start, end] = [0, value.length]
  while (start < end && isSpace(value[start])) start += 1
  while (start < end && isSpace(value[end - 1])) end -= 1
  const text = value.slice(start, end)
  validateHeaderValue(name, text)
  return text
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && '\t\n\r '.includes(character)
}
