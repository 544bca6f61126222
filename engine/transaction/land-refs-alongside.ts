import { openTree, type Alongside, type Change, type FileState } from '../../apply-patch/index.ts'
import type { GitWrites } from '../../sandbox/index.ts'

/**
 * Turns planned changes to git's files into the form that a patch transaction accepts.
 *
 * @returns undefined if there is nothing to do; `changed` with the path of a file that has changed since the planning, in which case the landing must
 *   be planned again
 */
export function alongsideOf(plans: readonly GitWrites[]): Alongside | { readonly changed: string } | undefined {
  const within = [...new Set(plans.flatMap((plan) => plan.within))]
  const changes: Change[] = []
  const planned = new Map<string, Buffer>()
  const unchanged: { readonly key: string; readonly before: FileState }[] = []
  for (const { writes, unchanged: kept } of plans) {
    for (const { path, before, after, mode, isSynced } of writes) {
      // The plans for the work trees of one repository may contain the same pack.
      if (after !== undefined && planned.get(path)?.equals(after) === true) continue
      if (after !== undefined) planned.set(path, after)
      const now = stateOf(path, before)
      if (now === undefined) return { changed: path }
      const place = { path, key: path }
      if (after === undefined) changes.push({ type: 'remove', place, before: now })
      else
        changes.push({
          ...writeOf(place, now, after),
          ...(mode !== undefined && { mode }),
          ...(isSynced && { isSynced }),
        })
    }
    for (const { path, before } of kept) {
      const now = stateOf(path, before)
      if (now === undefined) return { changed: path }
      unchanged.push({ key: path, before: now })
    }
  }
  if (changes.length === 0) return undefined
  const directories = plans.flatMap((plan) => plan.directories ?? [])
  return { within, changes, directories, unchanged, locks: [...new Set(plans.flatMap((plan) => plan.locks))] }
}

/** Returns the current state of a file if it still contains `bytes` or, if `bytes` is undefined, still doesn't exist. Otherwise returns undefined. */
function stateOf(path: string, bytes: Buffer | undefined): FileState | undefined {
  const now = openTree('/', { unsafePaths: true }).read({ path, key: path })
  if (bytes === undefined) return now.type === 'absent' ? now : undefined
  return now.type === 'file' && now.bytes.equals(bytes) ? now : undefined
}

function writeOf(place: Change['place'], before: FileState, after: Buffer): Change & { readonly type: 'write' } {
  const known = before.type === 'file' ? before : undefined
  const owner = known && { uid: known.uid, gid: known.gid }
  return { type: 'write', place, before, content: [after], mode: known?.mode, owner, evenReadOnly: true }
}
