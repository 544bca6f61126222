import type { ChangeSet, Place, SummaryLine } from '../change-set.ts'
import { failureLimit, PatchError } from '../patch-error.ts'
import { PathError, ReadError, type Tree } from '../files/index.ts'
import type { AddFile, DeleteFile, Mode, Patch, PatchOperation, UpdateFile } from '../patch.ts'
import { wholeText } from '../text/body-text.ts'
import { PathDeclarations } from '../encoding/declared-for-path.ts'
import { changedTree } from './changed-tree.ts'
import { FailureNotes } from './failure-notes.ts'
import { Overlay } from './planned-files.ts'
import { encodeNew, updateFile } from './update-file.ts'
import type { UpdateContext } from './update-context.ts'
import { WarningList } from './warning-list.ts'

/** How strictly to plan: see `PlanOptions`. */
type PlannerOptions = { readonly mode?: Mode; readonly ambiguous?: 'first' | 'refuse' }

/** Why what is at a path can't be changed or replaced by a patch. */
const reasons = { directory: 'is-directory', other: 'not-a-file', symlink: 'not-a-file', large: 'too-large' }

/** Plans the operations of a patch in order. Each one sees the results of the previous ones. */
export class Planner {
  readonly #tree: Tree
  readonly #overlay: Overlay
  readonly #patch: Patch
  readonly #strict: boolean
  readonly #context: UpdateContext
  readonly #summary: SummaryLine[] = []
  readonly #warnings = new WarningList()
  readonly #failures: FailureNotes
  readonly #declarations: PathDeclarations

  constructor(tree: Tree, patch: Patch, options: PlannerOptions) {
    this.#tree = tree
    this.#overlay = new Overlay(tree)
    this.#patch = patch
    this.#declarations = new PathDeclarations(tree.root)
    this.#failures = new FailureNotes(patch, tree.root)
    this.#strict = options.mode === 'strict'
    this.#context = {
      mode: options.mode ?? 'lenient',
      ambiguous: this.#strict ? 'refuse' : (options.ambiguous ?? 'first'),
      warnings: this.#warnings,
      failures: this.#failures.list,
      otherFiles: (path) => this.#otherFiles(path),
    }
  }

  /** Whether there are more failures than are reported. If so, planning can end. */
  get hasGivenUp(): boolean {
    return this.#failures.list.length > failureLimit
  }

  plan(operation: PatchOperation, hunk: number): void {
    try {
      switch (operation.type) {
        case 'add':
          return this.#planAdd(operation, hunk)
        case 'delete':
          return this.#planDelete(operation, hunk)
        case 'update':
          return this.#planUpdate(operation, hunk)
        default:
          return operation satisfies never
      }
    } catch (error) {
      const kind = operation.type === 'update' ? 'read' : operation.type === 'add' ? 'write' : 'delete'
      this.#failures.path(error, kind, operation, operation.path, hunk)
    }
  }

  finish(): ChangeSet {
    const changes = this.#overlay.changes()
    this.#refuseNesting(changes.flatMap((change) => (change.type === 'write' ? [change.place] : [])))
    const failures = this.#failures.list
    const isMalformed = failures.some(({ code }) => code === 'unexpected-line' || code === 'chunk-expected')
    if (failures.length > 0) throw new PatchError(isMalformed ? 'malformed' : 'not-applied', failures)
    const { unsafePaths } = this.#tree
    return {
      ...changedTree(changes, this.#tree),
      unsafePaths,
      changes,
      summary: this.#summary,
      warnings: this.#warnings.list(),
    }
  }

  #planAdd(operation: AddFile, hunk: number): void {
    const { path, line, body } = operation
    const place = this.#overlay.locate(path)
    const existing = this.#overlay.get(place)
    if (existing.type !== 'file' && existing.type !== 'absent') {
      return this.#failures.add({ code: 'write', path, patchLine: line, hunk, reason: reasons[existing.type] })
    }
    if (existing.type === 'file') {
      if (this.#strict) return this.#failures.add({ code: 'write', path, patchLine: line, hunk, reason: 'exists' })
      const message = `${path} existed and was replaced by the added file`
      this.#warnings.add({ code: 'overwritten', message, path, patchLine: line })
    }
    const content = encodeNew(wholeText(body, operation), path, () => this.#declarations.for(place.key))
    if (!(content instanceof Uint8Array)) {
      return this.#failures.add({ code: 'write', path, patchLine: line, hunk, ...content })
    }
    const kept = existing.type === 'file' ? existing : { mode: undefined, owner: undefined }
    this.#overlay.set(place, { type: 'file', content: [content], mode: kept.mode, owner: kept.owner })
    this.#summary.push({ kind: 'A', path })
  }

  #planDelete(operation: DeleteFile, hunk: number): void {
    const { path, line, expected } = operation
    const place = this.#overlay.locateEntry(path)
    const existing = this.#overlay.get(place)
    const fail = (reason: string): void => this.#failures.add({ code: 'delete', path, patchLine: line, hunk, reason })
    if (existing.type === 'absent') return this.#failures.missing('delete', path, line, hunk)
    if (existing.type === 'directory') return fail('is-directory')
    if (existing.type === 'other') return fail('not-a-file')
    if (expected !== undefined && this.#overlay.bytes(place)?.equals(wholeText(expected, operation)) !== true) {
      return fail('content-differs')
    }
    this.#overlay.set(place, { type: 'absent' })
    this.#summary.push({ kind: 'D', path })
  }

  #planUpdate(operation: UpdateFile, hunk: number): void {
    const { path, moveTo, line, chunks } = operation
    const entry = moveTo === undefined ? this.#overlay.locate(path) : this.#overlay.locateEntry(path)
    const isLink = this.#overlay.get(entry).type === 'symlink'
    // A link that is only renamed stays a link; if it is also edited, it becomes a copy of its target, as with Codex.
    const source = isLink && chunks.length > 0 ? this.#overlay.locate(path) : entry
    const existing = this.#overlay.get(source)
    if (existing.type !== 'file' && !(existing.type === 'symlink' && chunks.length === 0)) {
      if (existing.type === 'absent') return this.#failures.missing('read', path, line, hunk)
      return this.#failures.add({ code: 'read', path, patchLine: line, hunk, reason: reasons[existing.type] })
    }
    let next = existing
    if (existing.type === 'file' && chunks.length > 0) {
      const bytes = this.#overlay.bytes(source) ?? Buffer.alloc(0)
      const absolute = this.#failures.absolute(path)
      const declared = (): ReturnType<PathDeclarations['for']> => this.#declarations.for(source.key)
      const updated = updateFile(bytes, operation, { ...this.#context, hunk, absolute, declared })
      if ('fault' in updated) return this.#failures.add({ code: 'write', path, hunk, ...updated.fault })
      const { content } = updated
      if (content !== undefined) next = { ...existing, content }
      else if (moveTo === undefined) {
        const message = `hunk ${hunk} changes nothing in ${path}`
        this.#warnings.add({ code: 'no-effect', message, path, patchLine: line })
      }
    }
    if (moveTo === undefined) this.#overlay.set(source, next)
    else if (!this.#move(operation, moveTo, entry, source, next, hunk)) return
    this.#summary.push({ kind: 'M', path: moveTo ?? path })
  }

  /** Plans a move. @returns whether this was possible; if not, the failure is noted */
  #move(
    operation: UpdateFile,
    moveTo: string,
    entry: Place,
    source: Place,
    next: Parameters<Overlay['set']>[1],
    hunk: number,
  ): boolean {
    const patchLine = operation.line + 1
    try {
      const destination = this.#overlay.locate(moveTo)
      // Moving a file to its own path, even if that is spelt differently, is an update.
      if (destination.key === source.key || destination.key === entry.key) {
        this.#overlay.set(source, next)
        return true
      }
      const there = this.#overlay.get(destination)
      if (there.type !== 'absent') {
        const reason = this.#refusesReplacing(there.type, destination, hunk)
        if (reason !== undefined) {
          this.#failures.add({ code: 'write', path: moveTo, patchLine, hunk, reason })
          return false
        }
        const message = `${moveTo} existed and was replaced by ${operation.path}`
        this.#warnings.add({ code: 'overwritten', message, path: moveTo, patchLine })
      }
      this.#overlay.moveAway(entry, destination)
      this.#overlay.set(
        destination,
        next.type === 'file' || next.type === 'symlink' ? { ...next, movedFrom: entry } : next,
      )
      return true
    } catch (error) {
      this.#failures.path(error, 'write', { line: patchLine }, moveTo, hunk)
      return false
    }
  }

  #refusesReplacing(type: string, destination: Place, hunk: number): string | undefined {
    if (type === 'directory') return 'is-directory'
    if (type !== 'file') return type === 'large' ? 'too-large' : 'not-a-file'
    if (this.#strict) return 'exists'
    // If two files are swapped, a later operation moves the file that this move would replace. Replacing it now would lose its content.
    const isNeeded = this.#patch.operations.slice(hunk).some((later) => {
      if (later.type !== 'update') return false
      try {
        return this.#tree.locate(later.path).key === destination.key && later.moveTo !== undefined
      } catch (error) {
        if (error instanceof PathError) return false
        throw error
      }
    })
    return isNeeded ? 'needed-later' : undefined
  }

  /** Refuses to write a file at a path that must be a directory for another file of the patch. */
  #refuseNesting(written: readonly Place[]): void {
    const keys = new Set(written.map(({ key }) => key))
    for (const { key, path } of written) {
      for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1)) {
        if (!keys.has(key.slice(0, at))) continue
        const hunk = this.#patch.operations.findIndex(
          (one) => one.path === path || (one.type === 'update' && one.moveTo === path),
        )
        const patchLine = this.#patch.operations[hunk]?.line ?? 1
        this.#failures.add({ code: 'write', path, patchLine, hunk: hunk + 1, reason: 'not-a-directory' })
        break
      }
    }
  }

  #otherFiles(path: string): readonly { readonly path: string; readonly bytes: Buffer }[] {
    const paths = new Set(
      this.#patch.operations.flatMap((one) => (one.type === 'update' && one.path !== path ? [one.path] : [])),
    )
    return [...paths].slice(0, 50).flatMap((other) => {
      try {
        const bytes = this.#overlay.bytes(this.#overlay.locate(other))
        return bytes === undefined ? [] : [{ path: other, bytes }]
      } catch (error) {
        if (error instanceof PathError || error instanceof ReadError) return []
        throw error
      }
    })
  }
}
