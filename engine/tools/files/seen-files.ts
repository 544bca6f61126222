import { hash } from 'node:crypto'

/** What the model knows about files: the content of each that it has read or written, as of then. */
export class SeenFiles {
  readonly #hashes = new Map<string, string>()

  /** @param path absolute */
  note(path: string, bytes: Uint8Array): void {
    this.#hashes.set(path, digest(bytes))
  }

  /** Whether the model knows a file that now holds `bytes`: never saw it, saw just this, or saw it before it changed. */
  compare(path: string, bytes: Uint8Array): 'unseen' | 'same' | 'changed' {
    const known = this.#hashes.get(path)
    if (known === undefined) return 'unseen'
    return known === digest(bytes) ? 'same' : 'changed'
  }
}

function digest(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}
