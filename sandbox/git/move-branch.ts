import { fsyncSync, renameSync, writeSync } from 'node:fs'
import { bytes } from './held-directory.ts'
import type { ImportSides } from './import-types.ts'
import { parseRef, refInPacked } from './refs.ts'
import { withLock } from './replace-file.ts'

const [largestRef, largestPacked] = [4096, 256 * 1024 * 1024]

/**
 * Moves a branch of the host's as `git update-ref` does (refs/files-backend.c): while its lock is held, where it still is what it was, by a new
 * file in place of the one before, on the disk before it gets its name. For the most usual case alone, which starting git would take
 * longer for than all else: a branch that is there gets a commit that is known to be one. Its log is left to the caller.
 *
 * @returns whether it was moved: where not, git is to do it, or to say why it can't be
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
    renameSync(lock, bytes(host.at(name)))
    moved = true
    return true
  })
  return moved
}
