import { closeSync, constants, fstatSync, lstatSync, openSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { holdPlace } from '../../sandbox/index.ts'
import type { HeldGrant } from './held-grants.ts'

/** The grant of a file that has been made for it. */
type MadeGrant = {
  readonly grant: HeldGrant
  /** Removes the file again where nobody wrote to it. */
  readonly takeAway: () => void
}

/**
 * Makes the granted file that doesn't exist yet, empty: a sandbox can mount a single file, but can't let one be created without everything
 * next to it. It is made in the very folder that was asked about. If that fails, the file stays missing, and the sandbox tells the command:
 * undefined.
 */
export function makeGranted({ grant, place, makes }: HeldGrant): MadeGrant | undefined {
  if (grant.kind !== 'write' || place === undefined || makes === undefined) return undefined
  // Held once more: the file may have to be removed long after the question.
  const folder = holdPlace(dirname(grant.path))
  try {
    const { device, inode } = place.identity
    if (folder?.identity.inode !== inode || folder.identity.device !== device) throw new TypeError('another folder')
    const path = folder.inside(makes)
    // Neither through a link nor over anything.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const descriptor = openSync(path, flags, 0o666)
    const { ino, dev } = fstatSync(descriptor)
    closeSync(descriptor)
    const made = { grant, place: holdPlace(grant.path) }
    return {
      grant: made,
      takeAway: () => {
        const now = lstatSync(path, { throwIfNoEntry: false })
        if (now?.ino === ino && now.dev === dev && now.size === 0) unlinkSync(path)
        folder.close()
        made.place?.close()
      },
    }
  } catch {
    // There by now, or in a folder that is closed to the user too.
    folder?.close()
    return undefined
  }
}
