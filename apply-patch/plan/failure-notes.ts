import { isAbsolute } from 'node:path'
import type { Failure, PlaceFailure } from '../patch-error.ts'
import { PathError, ReadError } from '../files/index.ts'
import type { Patch } from '../patch.ts'
import { whyMissing } from './why-missing.ts'

/** Each look for what was meant goes through the tree. */
const explainedMisses = 10

/** Why a patch can't be applied, as far as planning has come. */
export class FailureNotes {
  readonly list: Failure[] = []
  readonly #patch: Patch
  readonly #root: string

  constructor(patch: Patch, root: string) {
    this.#patch = patch
    this.#root = root
  }

  /** A path that can't be taken, or read. */
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

  /** A file that isn't there: taken away by the patch itself, or perhaps spelt otherwise. */
  missing(code: PlaceFailure['code'], path: string, patchLine: number, hunk: number): void {
    const explain = this.list.length < explainedMisses
    this.add({ code, path, patchLine, hunk, ...whyMissing(this.#patch, this.#root, path, hunk, explain) })
  }

  /** Anything else. */
  add(failure: Omit<PlaceFailure, 'absolute'>): void {
    this.list.push({ ...failure, absolute: this.absolute(failure.path) })
  }

  /** Where a path of the patch is. */
  absolute(path: string): string {
    return isAbsolute(path) ? path : `${this.#root}/${path}`
  }
}
