import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import type { Mount } from '../mount.ts'
import { parseAlternates, writeAlternates } from './alternates.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { same, type NewObjects, type PackObjects, type RunPack } from './import-types.ts'
import { packLoose } from './loose-pack.ts'
import { encodePath } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { shownPath, type View } from '../views/view-paths.ts'

/**
 * The directory for objects that commands create. It borrows the objects of the host's repository, and the objects that the host's repository borrows
 * from others.
 */
export class PrivateObjects {
  readonly #git: string
  readonly #directory: string
  readonly #views: readonly View[]
  readonly #borrowed: readonly string[]
  #path: string
  #count = 0
  /** The stamp (see `#stamp`) that the objects had when the host last received them. */
  #taken: string | undefined
  /** The ids of the objects that this program itself packed and that the host has received. */
  readonly #given = new Set<string>()

  /**
   * @param git the repository's directory on the host, which `host` holds open
   * @param directory the run's own directory, in which directories for objects are created
   * @param views private views in which commands see the repository at a different path
   * @param mayBorrow whether the repository may borrow the objects of a directory
   */
  constructor(
    git: string,
    host: HeldDirectory,
    directory: string,
    views: readonly View[],
    mayBorrow: (directory: string) => boolean,
  ) {
    this.#git = git
    this.#views = views
    this.#directory = directory
    // The directories from which the host's repository borrows objects. Commands see these objects too.
    this.#borrowed = parseAlternates(host.read('objects/info/alternates', 1024 * 1024))
      .map((path) => resolve(`${git}/objects`, path))
      .filter((path) => existsSync(encodePath(path)) && mayBorrow(path))
    this.#path = this.#make()
  }

  /** The mounts for the objects that commands create, for the host's objects, and for the objects that the host's repository borrows. */
  mounts(as: 'writable' | 'read-only'): readonly Mount[] {
    return [
      { path: `${this.#git}/objects`, source: this.#path, as },
      { path: `${this.#git}/portcullis/objects`, source: `${this.#git}/objects`, as: 'read-only' },
      ...this.#borrowed.map((path, index) =>
        this.#isCovered(path)
          ? { path: `${this.#git}/${insideName(index)}`, source: path, as: 'read-only' as const }
          : { path, as: 'read-only' as const },
      ),
    ]
  }

  /** Paths in the private directory at which borrowed objects are mounted if a view covers their own path. */
  get borrowedInside(): readonly string[] {
    return this.#borrowed.flatMap((path, index) => (this.#isCovered(path) ? [insideName(index)] : []))
  }

  /** If a command has changed the list of borrowed objects, creates a new directory in place of the changed one. */
  repair(): void {
    const isSame = this.#within((objects) => same(objects.read('info/alternates', 1024 * 1024), this.#alternates()))
    if (!isSame) this.#path = this.#make()
  }

  /**
   * The objects that the host might not have yet. This program packs them if there are few; otherwise git in the sandbox packs them. The caller
   * calls `taken` when the host has them.
   */
  newOnes(oidBytes: number, pack: RunPack): NewObjects & { readonly taken: () => void } {
    const stamp = this.#stamp()
    const isNew = stamp !== undefined && stamp !== this.#taken
    const loose = isNew ? this.#within((objects) => packLoose(objects, oidBytes, this.#given)) : undefined
    const ours = loose === undefined ? [] : [() => asStream(loose.content)]
    const oids = loose?.oids ?? new Set()
    return {
      given: stamp === this.#taken,
      packs:
        stamp === undefined ? [] : [...ours, ...[false, true].map((only) => () => pack(this.#git, oidBytes, only))],
      oids,
      commits: loose?.commits ?? new Set(),
      taken: () => {
        this.#taken = stamp
        for (const oid of oids) this.#given.add(oid)
      },
    }
  }

  /** Creates a new directory for objects, so that links or other traps that a command has left in the old one have no effect. */
  #make(): string {
    const path = `${this.#directory}/objects-${(this.#count += 1)}`
    mkdirSync(`${path}/pack`, { recursive: true, mode: 0o700 })
    mkdirSync(`${path}/info`)
    writeFileSync(`${path}/info/alternates`, this.#alternates())
    return path
  }

  #alternates(): Buffer {
    const git = shownPath(this.#git, this.#views)
    const borrowed = this.#borrowed.map((path, index) => (this.#isCovered(path) ? `${git}/${insideName(index)}` : path))
    return writeAlternates([`${git}/portcullis/objects`, ...borrowed])
  }

  #isCovered(path: string): boolean {
    return this.#views.some((view) => isWithin(path, view.path) || isWithin(path, view.source))
  }

  #within<Answer>(act: (objects: HeldDirectory) => Answer): Answer {
    const objects = holdDirectory(this.#path)
    try {
      return act(objects)
    } finally {
      objects.close()
    }
  }

  /** Returns a text that changes when a command adds objects; undefined if there are no objects. */
  #stamp(): string | undefined {
    return this.#within((objects) => {
      const entries = [...(objects.entries('') ?? [])].filter(([name]) => name === 'pack' || /^[0-9a-f]{2}$/.test(name))
      const isEmpty = entries.every(([name]) => name === 'pack') && (objects.names('pack') ?? []).length === 0
      return isEmpty ? undefined : entries.map(([name, { stamp }]) => `${name} ${stamp}`).join('\n')
    })
  }
}

function insideName(index: number): string {
  return `portcullis/borrowed/${index}`
}

function asStream(content: Buffer): ReturnType<PackObjects> {
  return { stdout: Readable.from([content], { objectMode: false }), done: Promise.resolve(undefined) }
}
