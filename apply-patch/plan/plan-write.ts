import type { ChangeSet } from '../change-set.ts'
import { PatchError } from '../patch-error.ts'
import { openTree, PathError, ReadError, recover } from '../files/index.ts'
import { Overlay } from './overlay.ts'

/**
 * Plans a file that is given whole, for callers that have its new content already: a new one is made, an existing one keeps its mode
 * and owner. Touches nothing; the change set is committed as a patch's is. A file that holds the content already is no change.
 *
 * @throws PatchError `not-applied` where the path can't be written
 * @throws CommitError when a crashed run can't be put in order
 * @example await commit(await planWrite({ path: 'a.txt', content: Buffer.from('one\n') }, { root: '.' }))
 */
export async function planWrite(
  file: { readonly path: string; readonly content: Uint8Array },
  options: { readonly root: string; readonly signal?: AbortSignal },
): Promise<ChangeSet> {
  const { path, content } = file
  const { root, signal } = options
  signal?.throwIfAborted()
  await recover({ root, ...(signal && { signal }) })
  const tree = openTree(root, { unsafePaths: false })
  const overlay = new Overlay(tree)
  try {
    const place = overlay.locate(path)
    const existing = overlay.get(place)
    if (existing.type === 'directory') throw refusal(path, 'is-directory')
    if (existing.type === 'other' || existing.type === 'symlink') throw refusal(path, 'not-a-file')
    const { mode, owner } = existing.type === 'file' ? existing : { mode: undefined, owner: undefined }
    overlay.set(place, { type: 'file', content: [content], mode, owner })
    const kind = existing.type === 'file' ? 'M' : 'A'
    const changes = overlay.changes()
    return { root: tree.root, unsafePaths: false, changes, summary: [{ kind, path }], warnings: [] }
  } catch (error) {
    if (error instanceof PathError) throw refusal(path, error.code, error.errno ?? error.resolved ?? error.culprit)
    if (error instanceof ReadError) throw refusal(path, error.errno)
    throw error
  }
}

function refusal(path: string, reason: string, detail?: string): PatchError {
  const facts = { code: 'write' as const, path, absolute: path, hunk: 1, patchLine: 1, reason }
  return new PatchError('not-applied', [detail === undefined ? facts : { ...facts, detail }])
}
