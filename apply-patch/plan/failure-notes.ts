import { isAbsolute } from 'node:path'
import type { Failure, PlaceFailure } from '../patch-error.ts'
import { PathError, ReadError } from '../files/index.ts'
import type { Patch } from '../patch.ts'
import { whyMissing } from './why-missing.ts'

/** Once this many failures are noted, the tree isn't searched any more for the file that was meant by a missing one: each search is expensive. */
const explainedMisses = 10

/** Collects, during planning, the reasons why a patch can't be applied. */
export class FailureNotes {
  readonly list: Failure[] = []
  readonly #patch: Patch
  readonly #root: string

  constructor(patch: Patch, root: string) {
    this.#patch = patch
    this.#root = root
  }

  /** Notes a path that is refused or can't be read. */
  path(error: unknown, code: PlaceFailure['code'], at: { line: number }, path: string, hunk: number): void {
    if (error instanceof PathError) {
      const detail = error.errno ?? error.resolved ?? error.culprit
      this.add({
        code,
        path,
        patchLine: at.line,
        hunk,
        reason: error.code,
        ...(detail === undefined ? {} : { detail }),
      })
    } else if (error instanceof ReadError) {
      this.add({ code, path, patchLine: at.line, hunk, reason: error.errno })
    } else throw error
  }

  /** Notes a missing file and, if it is known, the reason: an earlier operation of the patch removed it, or its name may be misspelt. */
  missing(code: PlaceFailure['code'], path: string, patchLine: number, hunk: number): void {
    const explain = this.list.length < explainedMisses
    this.add({ code, path, patchLine, hunk, ...whyMissing(this.#patch, this.#root, path, hunk, explain) })
  }

  /** Notes any other failure. */
  add(failure: Omit<PlaceFailure, 'absolute'>): void {
    this.list.push({ ...failure, absolute: this.absolute(failure.path) })
  }

  /** The absolute form of a path in the patch. */
  absolute(path: string): string {
    return isAbsolute(path) ? path : `${this.#root}/${path}`
  }
}
