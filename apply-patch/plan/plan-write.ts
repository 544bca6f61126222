import type { ChangeSet } from '../change-set.ts'
import { PatchError } from '../patch-error.ts'
import { openTree, PathError, ReadError, recover } from '../files/index.ts'
import { Overlay } from './planned-files.ts'

/**
 * Plans the replacement of a whole file, for callers that already have its new content. A missing file is created; an existing one keeps its mode and owner.
 * The call itself changes nothing. Its result is a change set, which is committed like that of a patch. If the file has this content already, the change set is
 * empty.
 *
 * @throws PatchError `not-applied` if the path can't be written
 * @throws CommitError if a crashed run can't be recovered
 * @throws PathError if the root isn't a directory, or can't be accessed
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
