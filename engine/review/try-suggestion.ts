import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePatch, PatchError, planPatch } from '../../apply-patch/index.ts'

/** The effect of a suggestion on a file: new text for a range of lines, numbered from 1. */
type Replacement = { readonly startLine: number; readonly endLine: number; readonly text: string }

/** The name under which a file is stored while a suggestion is tried on it. The file's real name isn't used, because it is untrusted. */
const name = 'file'

/**
 * Tries a suggestion on the reviewed content of a file, without touching the tree.
 *
 * @param patch in `apply_patch` format
 * @param path the only file that it may change
 * @returns the replacement, or a sentence that says why the suggestion doesn't apply
 */
export async function trySuggestion(patch: string, path: string, content: Buffer): Promise<Replacement | string> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-review-'))
  try {
    const { operations } = parsePatch(patch).patch
    const [operation] = operations
    if (operations.length !== 1 || operation?.type !== 'update' || operation.moveTo !== undefined) {
      return 'it does something other than update this one file'
    }
    if (operation.path !== path) return `it changes ${operation.path}`
    writeFileSync(join(folder, name), content)
    const { changes } = await planPatch({ operations: [{ ...operation, path: name }] }, { root: folder })
    const [change] = changes
    if (change?.type !== 'write') return 'it changes nothing'
    return replaced(content.toString(), Buffer.concat(change.content).toString())
  } catch (error) {
    if (error instanceof PatchError) return 'it does not apply to the file'
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the change from one text to another as new text for one range of lines, from the first difference to the last. */
function replaced(before: string, after: string): Replacement {
  const [a, b] = [before.split(/(?<=\n)/), after.split(/(?<=\n)/)]
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  // A pure insertion replaces no line. SARIF requires at least one line, so the line above or below is repeated.
  if (head === a.length - tail) {
    if (head > 0) head--
    else if (tail > 0) tail--
  }
  return { startLine: head + 1, endLine: a.length - tail, text: b.slice(head, b.length - tail).join('') }
}
