import { hash } from 'node:crypto'

/** Remembers the content that each file had when the model last read or wrote it. */
export class SeenFiles {
  readonly #hashes = new Map<string, string>()

  /** Records the content that the model has seen. `path` is absolute. */
  note(path: string, bytes: Uint8Array): void {
    this.#hashes.set(path, digest(bytes))
  }

  /** Compares a file's current content with the content that the model last read or wrote. `unseen`: the model has neither read nor written the file. */
  compare(path: string, bytes: Uint8Array): 'unseen' | 'same' | 'changed' {
    const known = this.#hashes.get(path)
    if (known === undefined) return 'unseen'
    return known === digest(bytes) ? 'same' : 'changed'
  }
}

function digest(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}
