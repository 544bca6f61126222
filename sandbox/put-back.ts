import { closeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { lstatSync, renameSync } from './host-paths.ts'
import { isSame, openWithoutLinks } from './held-place.ts'
import type { Identity } from './helper/steps.ts'
import type { Denial } from './sandbox.ts'

/** The path of a denied entry at the start of the run, and its current path. */
type MovedPlace = { readonly from: string; readonly to: string; readonly identity: Identity }

/**
 * Renames the entry at `to` back to `from`. If directories above the entry were renamed, the outermost of them whose old name is free is renamed
 * instead. This replaces nothing and follows no symlink. Returns false if the entry can't be moved back, or if another entry is at `to`.
 */
export function putBack({ from, to, identity }: MovedPlace): boolean {
  const there = openWithoutLinks(to)
  if (there === undefined) return false
  closeSync(there.descriptor)
  if (!isSame(there.identity, identity)) return false
  const [old, now] = [from.split('/'), to.split('/')]
  let common = 0
  while (common < Math.min(old.length, now.length) - 1 && old.at(-1 - common) === now.at(-1 - common)) common += 1
  for (let kept = common; kept >= 0; kept -= 1) {
    const end = -kept || undefined
    if (renameFree(now.slice(0, end).join('/'), old.slice(0, end).join('/'))) return true
  }
  return false
}

/** Returns the denial for an entry that a command moved. The denial says whether the entry was moved back. */
export function movedDenial({ from, to }: Omit<MovedPlace, 'identity'>, isBack: boolean): Denial {
  const what = isBack ? 'and put back' : 'where commands of this run still cannot read it'
  return {
    kind: 'path',
    subject: `${from} (it was moved to ${to}, ${what})`,
    rule: 'deniedReads',
    certainty: 'proven',
    remedy: {
      kind: 'otherwise',
      advice: isBack
        ? 'move it yourself, outside the sandbox, and deny its new path'
        : `move it back yourself, or deny ${to}, because the next run denies only the paths that its configuration names`,
    },
  }
}

function renameFree(from: string, to: string): boolean {
  const [source, target] = [openWithoutLinks(dirname(from)), openWithoutLinks(dirname(to))]
  try {
    if (source === undefined || target === undefined) return false
    const at = `/proc/self/fd/${target.descriptor}/${basename(to)}`
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) return false
    renameSync(`/proc/self/fd/${source.descriptor}/${basename(from)}`, at)
    return true
  } catch {
    // This program has no permission to rename the entry, or a running command has changed it again. Either way, the move is reported.
    return false
  } finally {
    for (const held of [source, target]) if (held !== undefined) closeSync(held.descriptor)
  }
}
