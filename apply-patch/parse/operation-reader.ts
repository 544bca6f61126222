import { failureLimit, PatchError, type MalformedFailure } from '../patch-error.ts'
import type { Anchor, Chunk, LineHint, Patch, PatchOperation, Repair, RepairCode } from '../patch.ts'
import { nameOnly } from './git-headers.ts'
import type { Actions, ChunkSyntax, OperationSyntax, SyntaxError } from './syntax.ts'
import { anchorOf, pathOf } from './line-texts.ts'
import { plainMarker } from './markers.ts'
import { isHeader } from './above.ts'
import type { RunToken } from './scan-patch.ts'
import { trim } from '../text/trim.ts'
import { bodyOf, finalNewline, unmarkedLines, unterminated } from './stray-lines.ts'
import { more } from '../text/more.ts'

/** Turns the parts of a patch that the grammar has read into a patch, and collects problems and repairs while doing so. */
export class OperationReader implements Actions {
  readonly #bytes: Buffer
  readonly #strict: boolean
  readonly #repairs: Repair[]
  readonly #operations: PatchOperation[] = []
  readonly #failures: MalformedFailure[] = []
  #furtherRepairs = 0
  #environmentId: string | undefined
  /** The header of the operation that is being read, and that of the last one with a failure. */
  #current: RunToken | undefined
  #failed: RunToken | undefined

  constructor(bytes: Buffer, strict: boolean, repairs: Repair[]) {
    this.#bytes = bytes
    this.#strict = strict
    this.#repairs = repairs
  }

  marker(run: RunToken, which: 'begin' | 'end'): void {
    const text = trim(this.#text(run))
    const plain = plainMarker(text, which)
    if (plain !== undefined) this.#repairs.push({ code: 'decorated-marker', message: `read "${text}" as "${plain}"` })
  }

  prelude(environment: RunToken | undefined, blanks: readonly RunToken[]): void {
    if (environment !== undefined) {
      this.#environmentId = this.#text(environment).slice('*** Environment ID:'.length).trim()
      if (this.#environmentId === '') this.#fail({ code: 'environment-id-empty', patchLine: environment.line })
    }
    for (const blank of blanks) this.#repair('blank-line', 'skipped a blank line before the first operation', blank)
  }

  operation(syntax: OperationSyntax): void {
    this.#current = syntax.header
    const path = this.#path(syntax.header)
    const line = syntax.header.line
    switch (syntax.header.kind) {
      case 'add':
        return this.#readAdd(syntax, path, line)
      case 'delete':
        return this.#readDelete(syntax, path, line)
      default:
        return this.#readUpdate(syntax, path, line)
    }
  }

  /** Returns the parsed patch. @throws PatchError if the patch is malformed, or contains no operation */
  finish(): Patch {
    if (this.#failures.length > 0) throw new PatchError('malformed', this.#failures)
    if (this.#operations.length === 0) throw new PatchError('malformed', [{ code: 'no-operations' }])
    if (this.#furtherRepairs > 0) {
      const message = `made ${more(this.#furtherRepairs, 'repair')}, which are not listed`
      this.#repairs.push({ code: 'further-repairs', message })
    }
    const environment = this.#environmentId === undefined ? {} : { environmentId: this.#environmentId }
    return { ...environment, operations: this.#operations }
  }

  #readAdd(syntax: OperationSyntax, path: string, line: number): void {
    const { body, endOfAdded, blanks } = syntax
    if (!this.#allowGitHeader(syntax, [path])) return
    if (endOfAdded !== undefined)
      this.#repair('end-of-file-in-add', 'ignored "*** End of File" in an added file', endOfAdded)
    this.#skip(blanks)
    this.#operations.push({ type: 'add', path, line, body: this.#range(body), ...unterminated(this.#bytes, body) })
  }

  #readDelete({ body, blanks }: OperationSyntax, path: string, line: number): void {
    if (body !== undefined)
      this.#repair('delete-with-lines', 'accepted lines below "*** Delete File:"; they must match the whole file', body)
    this.#skip(blanks)
    this.#operations.push({
      type: 'delete',
      path,
      line,
      ...(body === undefined ? {} : { expected: this.#range(body), ...unterminated(this.#bytes, body) }),
    })
  }

  #readUpdate(syntax: OperationSyntax, path: string, line: number): void {
    const { header, moves, chunks } = syntax
    const [move, second] = moves
    const misplaced = move?.kind === 'late-move' ? move : second
    if (misplaced !== undefined) {
      const [chunk] = chunks
      if (second !== undefined || (chunk !== undefined && chunk.body.line < misplaced.line))
        return this.#fail({ code: 'chunk-expected', patchLine: misplaced.line, found: this.#text(misplaced) })
      this.#repair('misplaced-move', 'accepted a "*** Move to:" that is not directly below its header', misplaced)
    }
    if (move === undefined && chunks.length === 0)
      return this.#fail({ code: 'update-empty', patchLine: header.line, found: path })
    const moveTo = move === undefined ? undefined : this.#path(move)
    if (!this.#allowGitHeader(syntax, moveTo === undefined ? [path] : [path, moveTo])) return
    this.#operations.push({
      type: 'update',
      path,
      line,
      ...(moveTo === undefined ? {} : { moveTo }),
      chunks: chunks.map((chunk) => this.#readChunk(chunk)),
    })
  }

  #readChunk({ anchors, body, endOfFile }: ChunkSyntax): Chunk {
    const texts: Anchor[] = []
    let hint: LineHint | undefined
    for (const anchor of anchors) {
      // A bare `@@` contains no text to search for.
      if (anchor.end - anchor.start <= 3) continue
      const found = anchorOf(this.#bytes.toString('utf8', anchor.start, anchor.end), this.#strict)
      if (typeof found === 'string') texts.push({ text: found, line: anchor.line })
      else if (found !== undefined) {
        hint = found
        this.#repair('line-hint', 'used the line numbers in the header of a unified diff as a hint', anchor)
      }
    }
    return {
      line: anchors[0]?.line ?? body.line,
      bodyLine: body.line,
      anchors: texts,
      ...(hint === undefined ? {} : { hint }),
      body: this.#range(body),
      endOfFile: endOfFile !== undefined,
      ...finalNewline(this.#bytes, body),
      ...unmarkedLines(body),
    }
  }

  /** Whether the headers of a diff, if there are any, name the file of the operation in which they are. If not, this is noted as a failure. */
  #allowGitHeader({ gitHeader }: OperationSyntax, paths: readonly string[]): boolean {
    if (gitHeader === undefined) return true
    const text = this.#bytes.toString('utf8', gitHeader.start, gitHeader.end)
    if (text.startsWith('@@')) {
      this.#repair('git-header', 'ignored the header of a chunk in an added file, which has only one', gitHeader)
      return true
    }
    if (!nameOnly(text, paths)) {
      this.#fail({ code: 'unexpected-line', patchLine: gitHeader.line, found: this.#text(gitHeader) })
      return false
    }
    this.#repair('git-header', 'ignored the headers of a unified diff, which name the same file', gitHeader)
    return true
  }

  #skip([first]: readonly RunToken[]): void {
    if (first !== undefined) this.#repair('blank-line', 'skipped blank lines after an operation', first)
  }

  /**
   * Notes what is wrong where the grammar didn't fit.
   *
   * @returns false if more problems were found than are reported
   * @throws PatchError if a marker is missing: nothing else is worth reporting then
   */
  failSyntax(error: SyntaxError): boolean {
    const { at, after, header } = error
    const text = this.#bytes.toString('utf8', Math.max(0, this.#bytes.length - 1000)).trimEnd()
    // The End marker would be the last token.
    if (at === undefined || text === '') throw missingMarker('end-missing', text.slice(text.lastIndexOf('\n') + 1))
    if (after === undefined) {
      const start = this.#bytes.toString('utf8', 0, 64 * 1024).trimStart()
      const isDiff = /^(?:diff --git |--- .*\n\+\+\+ )/m.test(start)
      throw missingMarker(isDiff ? 'unified-diff' : 'begin-missing', start.replace(/\n[^]*$/, ''))
    }
    // Of an operation, only the first line that doesn't fit is reported.
    if (header !== undefined && this.#failed === header) {
      if (this.#failures.at(-1)?.code !== 'update-empty') return true
      this.#failures.pop()
    }
    if (at.kind === 'end' && header === undefined && this.#failures.length > 0) return true
    this.#fail(this.#problem({ ...error, at }))
    return this.#failures.length <= failureLimit
  }

  #problem({ at, within, after, header }: SyntaxError & { readonly at: RunToken }): MalformedFailure {
    const isNext = at.kind === 'end' || isHeader(at.kind)
    if (header === undefined) {
      if (at.kind === 'end') return { code: 'no-operations' }
      const isRepeated = at.kind === 'environment' && this.#environmentId !== undefined
      return isRepeated ? { code: 'environment-id-repeated', patchLine: at.line } : this.#notHeader(at)
    }
    if (header.kind !== 'update') return this.#notHeader(at, header.kind === 'add' ? 'add' : 'delete')
    if (within === 'update' && isNext)
      return { code: 'update-empty', patchLine: header.line, found: this.#path(header) }
    if (within === 'chunk' && (isNext || at.kind === 'end-of-file')) return { code: 'chunk-empty', patchLine: at.line }
    const isStarted = after?.kind === 'anchor' || after?.kind === 'body' || after?.kind === 'end-of-file'
    const isLine = at.kind === 'blank' || (at.kind === 'other' && !isStarted) || within === 'chunk'
    return { code: isLine ? 'unexpected-line' : 'chunk-expected', patchLine: at.line, found: this.#text(at) }
  }

  #notHeader(run: RunToken, after?: MalformedFailure['after']): MalformedFailure {
    const end = Math.min(this.#bytes.indexOf(10, run.start) + 1 || run.end, run.end)
    const found = trim(this.#bytes.toString('utf8', run.start, Math.min(end, run.start + 2000)))
    return { code: 'not-a-header', patchLine: run.line, found, ...(after && { after }) }
  }

  #path(header: RunToken): string {
    const { path, undecorated } = pathOf(this.#text(header), this.#strict)
    if (undecorated === undefined) return path
    this.#repair('decorated-path', `removed the stars at the end of "${path}"`, header)
    return undecorated
  }

  #text(run: RunToken): string {
    return this.#bytes.toString('utf8', run.start, Math.min(run.end, run.start + 20_000)).replace(/\n[^]*$/, '')
  }

  #range(run: RunToken | undefined): Buffer {
    if (run === undefined) return this.#bytes.subarray(0, 0)
    for (const stray of run.strays ?? []) {
      if (stray.kind === 'blank')
        this.#repair('missing-plus', 'treated a blank line in an added file as an empty line of the file', stray)
      else if (stray.kind === 'no-newline')
        this.#repair('no-newline-marker', 'treated "\\ No newline at end of file" as a marker, as in a diff', stray)
    }
    return bodyOf(this.#bytes, run)
  }

  #repair(code: RepairCode, message: string, run: Pick<RunToken, 'line'>): void {
    if (this.#repairs.length < failureLimit) this.#repairs.push({ code, message, patchLine: run.line })
    else this.#furtherRepairs++
  }

  #fail(failure: MalformedFailure): void {
    this.#failures.push(failure)
    this.#failed = this.#current
  }
}

function missingMarker(code: MalformedFailure['code'], found: string): PatchError {
  return new PatchError('malformed', [{ code, found: found.length > 200 ? `${found.slice(0, 200)}…` : found }])
}
