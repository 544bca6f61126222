import { fsyncSync, renameSync, writeSync } from 'node:fs'
import type { ImportSides } from './import-types.ts'
import { parseRef, refInPacked } from './refs.ts'
import { withLock } from './replace-file.ts'

const [largestRef, largestPacked] = [4096, 256 * 1024 * 1024]

/**
 * Moves a branch of the host's repository as `git update-ref` does (refs/files-backend.c): it holds the lock, checks that the branch has the expected
 * value, writes a new file to disk, and renames it over the old one. It handles only the most common case, in which starting git would take longer
 * than everything else: an existing branch moves to an object that is known to be a commit. The caller writes the reflog.
 *
 * @returns whether the branch was moved. If it was not, the caller lets git try
 */
export async function moveBranch(
  { host, oidBytes }: ImportSides,
  { name, old, now }: { readonly name: string; readonly old: string; readonly now: string },
): Promise<boolean> {
  let moved = false
  await withLock(host, name, (descriptor, lock) => {
    const kind = host.stat(name)?.kind
    const current =
      kind === undefined
        ? refInPacked(host.read('packed-refs', largestPacked), name)
        : parseRef(host.read(name, largestRef), oidBytes)
    if (current !== old || (kind !== undefined && kind !== 'file')) return false
    writeSync(descriptor, `${now}\n`)
    fsyncSync(descriptor)
    renameSync(lock, host.at(name))
    moved = true
    return true
  })
  return moved
}
