import { closeSync, constants, fstatSync, lstatSync, openSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { holdPlace } from '../../sandbox/index.ts'
import type { HeldGrant } from './held-grants.ts'

/** A grant, and the file that was created for it. */
type MadeGrant = {
  readonly grant: HeldGrant
  /** Removes the file again if nobody wrote to it. */
  readonly takeAway: () => void
}

/**
 * Creates an empty file for a grant if the file doesn't exist yet. A command in the sandbox couldn't create it: the sandbox can mount a single
 * existing file, but can't allow a new one without allowing the whole folder. The file is created in exactly the folder that the reviewer was asked
 * about. Returns undefined if there is nothing to create or the file can't be created.
 */
export function makeGranted({ grant, at, place, makes }: HeldGrant): MadeGrant | undefined {
  if (grant.kind !== 'write' || place === undefined || makes === undefined) return undefined
  // The folder is opened a second time and stays open, because the file may have to be removed long after the reviewer was asked.
  const folder = holdPlace(dirname(at))
  try {
    const { device, inode } = place.identity
    if (folder?.identity.inode !== inode || folder.identity.device !== device) throw new TypeError('another folder')
    const path = folder.inside(makes)
    // With these flags, the call never follows a link and never overwrites anything.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const descriptor = openSync(path, flags, 0o666)
    const { ino, dev } = fstatSync(descriptor)
    closeSync(descriptor)
    const made = { grant, at, place: holdPlace(at) }
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
    // The path leads to another folder by now, somebody else has created the file in the meantime, or the user can't create files in its folder.
    folder?.close()
    return undefined
  }
}
