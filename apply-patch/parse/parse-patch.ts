import { isUtf8 } from 'node:buffer'
import { failureLimit, PatchError, type MalformedFailure } from '../patch-error.ts'
import type { Anchor, Chunk, LineHint, Mode, Patch, PatchOperation, Repair, RepairCode } from '../patch.ts'
import { parseOperation, type ChunkSyntax, type OperationSyntax, type SyntaxError } from './operation-grammar.ts'
import { trim } from '../text/trim.ts'
import { scanOperations, type RunToken } from './scan-operations.ts'
import { bodyOf, finalNewline, unterminated } from './stray-lines.ts'
import { unwrap } from './unwrap.ts'
import { more } from '../text/more.ts'

/**
 * Parses a patch. Lenient mode also accepts the variants that models write, and reports each repair. Strict mode accepts only the format itself (see
 * `patchGrammar`), also with CRLF line endings. If `text` consists of bytes, the bodies of the result are usually ranges of these bytes, which must
 * therefore not change later.
 *
 * @throws PatchError `malformed` with at least the first problem of each malformed operation, up to `failureLimit` problems
 * @example const { patch, repairs } = parsePatch('*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n')
 */
export function parsePatch(
  text: string | Uint8Array,
  options: { readonly mode?: Mode } = {},
): { readonly patch: Patch; readonly repairs: readonly Repair[] } {
  const bytes =
    typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength)
  if (typeof text !== 'string' && !isUtf8(bytes)) throw new PatchError('malformed', [{ code: 'not-utf8' }])
  const strict = options.mode === 'strict'
  const repairs: Repair[] = []
  const envelope = unwrap(bytes, strict, repairs)
  const reader = new OperationReader(envelope.bytes, strict, repairs)
  let isPrelude = true
  for (const runs of scanOperations(envelope.bytes, envelope.from, envelope.to, 2, strict)) {
    if (isPrelude) reader.readPrelude(runs)
    else reader.readOperation(runs)
    isPrelude = false
    if (reader.hasGivenUp) break
  }
  return { patch: reader.finish(), repairs }
}

/** Turns the parsed operations into a patch, and collects problems and repairs while doing so. */
class OperationReader {
  readonly #bytes: Buffer
  readonly #strict: boolean
  readonly #repairs: Repair[]
  readonly #operations: PatchOperation[] = []
  readonly #failures: MalformedFailure[] = []
  #furtherRepairs = 0
  #environmentId: string | undefined

  constructor(bytes: Buffer, strict: boolean, repairs: Repair[]) {
    this.#bytes = bytes
    this.#strict = strict
    this.#repairs = repairs
  }

  /** Whether more problems were found than are reported. If so, parsing can end. */
  get hasGivenUp(): boolean {
    return this.#failures.length > failureLimit
  }

  /** Reads the lines before the first header. The first may be an environment line; blank lines are skipped, or refused in strict mode. */
  readPrelude(runs: readonly RunToken[]): void {
    for (const [index, run] of runs.entries()) {
      if (run.kind === 'environment' && (index === 0 || this.#environmentId !== undefined)) {
        if (this.#environmentId !== undefined)
          return this.#fail({ code: 'environment-id-repeated', patchLine: run.line })
        this.#environmentId = this.#text(run).slice('*** Environment ID:'.length).trim()
        if (this.#environmentId === '') return this.#fail({ code: 'environment-id-empty', patchLine: run.line })
      } else if (run.kind !== 'blank' || this.#strict) return this.#failHeader(run)
      else this.#repair('blank-line', 'skipped a blank line before the first operation', run)
    }
  }

  /** Interprets one operation, given as runs of lines. The first run is the header. */
  readOperation(runs: readonly RunToken[]): void {
    const syntax = parseOperation(runs)
    if ('within' in syntax) return this.#failSyntax(runs, syntax)
    const header = this.#text(syntax.header)
    const line = syntax.header.line
    switch (syntax.header.kind) {
      case 'add':
        return this.#readAdd(syntax, this.#path(header, '*** Add File: ', syntax.header), line)
      case 'delete':
        return this.#readDelete(syntax, this.#path(header, '*** Delete File: ', syntax.header), line)
      default:
        return this.#readUpdate(syntax, this.#path(header, '*** Update File: ', syntax.header), line)
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
    const { body, endOfFile, blanks } = syntax
    if (endOfFile !== undefined) {
      if (this.#strict) return this.#failHeader(endOfFile, 'add')
      this.#repair('end-of-file-in-add', 'ignored "*** End of File" in an added file', endOfFile)
    }
    if (!this.#allowBlanks(blanks)) return
    this.#operations.push({ type: 'add', path, line, body: this.#range(body), ...unterminated(this.#bytes, body) })
  }

  #readDelete({ body, blanks }: OperationSyntax, path: string, line: number): void {
    if (body !== undefined) {
      if (this.#strict) return this.#failHeader(body, 'delete')
      this.#repair('delete-with-lines', 'accepted lines below "*** Delete File:"; they must match the whole file', body)
    }
    if (!this.#allowBlanks(blanks)) return
    this.#operations.push({
      type: 'delete',
      path,
      line,
      ...(body === undefined ? {} : { expected: this.#range(body), ...unterminated(this.#bytes, body) }),
    })
  }

  #readUpdate({ header, moves, chunks, blanks }: OperationSyntax, path: string, line: number): void {
    const [move, second] = moves
    const misplaced = move !== undefined && move.line !== line + 1 ? move : second
    if (misplaced !== undefined) {
      const body = chunks[0]?.body.line ?? 0
      if (this.#strict || second !== undefined || misplaced.line > body) {
        if (chunks.length > 0 || second !== undefined || this.#strict) {
          return this.#fail({ code: 'chunk-expected', patchLine: misplaced.line, found: this.#text(misplaced) })
        }
      }
      this.#repair('misplaced-move', 'accepted a "*** Move to:" that is not directly below its header', misplaced)
    }
    if (move === undefined && chunks.length === 0) {
      return this.#fail({ code: 'update-empty', patchLine: header.line, found: path })
    }
    if (this.#strict && !this.#allowBlanks(blanks)) return
    this.#operations.push({
      type: 'update',
      path,
      line,
      ...(move === undefined ? {} : { moveTo: this.#path(this.#text(move), '*** Move to: ', move) }),
      chunks: chunks.map((chunk) => this.#readChunk(chunk)),
    })
  }

  #readChunk({ anchors, body, endOfFile }: ChunkSyntax): Chunk {
    if (this.#strict) this.#refuseEmptyLines(body)
    const texts: Anchor[] = []
    let hint: LineHint | undefined
    for (const anchor of anchors) {
      // A bare `@@` contains no text to search for.
      if (anchor.end - anchor.start <= 3) continue
      const text = this.#bytes.toString('utf8', anchor.start + 2, anchor.end).replace(/\n$/, '')
      const header = this.#strict ? null : /^ -(\d{1,9})(?:,(\d{1,9}))? \+\d+(?:,\d+)? @@(?:$| )/.exec(text)
      if (header !== null) {
        hint = { start: Number(header[1]), count: Number(header[2] ?? '1') }
        this.#repair('line-hint', 'used the line numbers in the header of a unified diff as a hint', anchor)
      } else if (text.trim() !== '' || text.length > 1) texts.push({ text: text.slice(1), line: anchor.line })
    }
    return {
      line: anchors[0]?.line ?? body.line,
      bodyLine: body.line,
      anchors: texts,
      ...(hint === undefined ? {} : { hint }),
      body: this.#range(body),
      endOfFile: endOfFile !== undefined,
      ...finalNewline(this.#bytes, body),
    }
  }

  /** Refuses empty lines in a chunk: Codex reads them as context lines, but the grammar doesn't allow them. */
  #refuseEmptyLines(body: RunToken): void {
    let line = body.line
    for (let at = body.start; at < body.end; at = this.#bytes.indexOf(10, at) + 1, line++) {
      if (this.#bytes[at] === 10) return this.#fail({ code: 'unexpected-line', patchLine: line, found: '' })
    }
  }

  #allowBlanks(blanks: readonly RunToken[]): boolean {
    const [first] = blanks
    if (first === undefined) return true
    if (this.#strict) {
      this.#failHeader(first)
      return false
    }
    this.#repair('blank-line', 'skipped blank lines after an operation', first)
    return true
  }

  #failSyntax(runs: readonly RunToken[], { at, within }: SyntaxError): void {
    const header = runs[0]
    if (header === undefined) return
    const found = at === undefined ? '' : this.#text(at)
    if (within === 'chunk') {
      const last = runs.at(-1) ?? header
      if (at === undefined || at.kind === 'end-of-file') {
        return this.#fail({ code: 'chunk-empty', patchLine: at?.line ?? last.line + 1 })
      }
      return this.#fail({ code: 'unexpected-line', patchLine: at.line, found })
    }
    if (at === undefined) return
    if (header.kind !== 'update') return this.#failHeader(at, header.kind === 'add' ? 'add' : 'delete')
    const started = runs.slice(0, runs.indexOf(at)).some(({ kind }) => kind === 'body' || kind === 'anchor')
    if (!started && at.kind === 'other') return this.#fail({ code: 'unexpected-line', patchLine: at.line, found })
    this.#fail({ code: 'chunk-expected', patchLine: at.line, found })
  }

  #failHeader(run: RunToken, after?: MalformedFailure['after']): void {
    const end = Math.min(this.#bytes.indexOf(10, run.start) + 1 || run.end, run.end)
    const found = trim(this.#bytes.toString('utf8', run.start, Math.min(end, run.start + 2000)))
    this.#fail({ code: 'not-a-header', patchLine: run.line, found, ...(after && { after }) })
  }

  #path(text: string, prefix: string, run: RunToken): string {
    const path = (this.#strict ? text : trim(text)).slice(prefix.length)
    if (this.#strict || !/\S \*{3,}$/.test(path)) return path
    this.#repair('decorated-path', `removed the stars at the end of "${path}"`, run)
    return path.replace(/ \*+$/, '')
  }

  #text(run: RunToken): string {
    return this.#bytes.toString('utf8', run.start, Math.min(run.end, run.start + 20_000)).replace(/\n[^]*$/, '')
  }

  #range(run: RunToken | undefined): Buffer {
    if (run === undefined) return this.#bytes.subarray(0, 0)
    for (const stray of run.strays ?? []) {
      if (stray.kind === 'blank')
        this.#repair('missing-plus', 'treated a blank line in an added file as an empty line of the file', stray)
      else this.#repair('no-newline-marker', 'treated "\\ No newline at end of file" as a marker, as in a diff', stray)
    }
    return bodyOf(this.#bytes, run)
  }

  #repair(code: RepairCode, message: string, run: Pick<RunToken, 'line'>): void {
    if (this.#repairs.length < failureLimit) this.#repairs.push({ code, message, patchLine: run.line })
    else this.#furtherRepairs++
  }

  #fail(failure: MalformedFailure): void {
    this.#failures.push(failure)
  }
}
