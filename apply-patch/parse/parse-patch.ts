import { isUtf8 } from 'node:buffer'
import { PatchError } from '../patch-error.ts'
import type { Mode, Patch, Repair } from '../patch.ts'
import { parseTokens } from './grammar.ts'
import { OperationReader } from './operation-reader.ts'
import { scanPatch } from './scan-patch.ts'
import { unwrap } from './unwrap.ts'

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
  const { text: inside, from, to } = unwrap(bytes, strict, repairs)
  const reader = new OperationReader(inside.subarray(0, to), strict, repairs)
  parseTokens(scanPatch(inside, from, to, strict), strict, reader, (error) => reader.failSyntax(error))
  return { patch: reader.finish(), repairs }
}
