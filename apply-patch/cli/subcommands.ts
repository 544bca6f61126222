import { pruneHelp, recoverHelp, undoHelp } from './help.ts'

/** The option `--durable` of `apply-patch` and of `apply-patch undo`. */
export const durable = {
  flag: '--durable',
  meaning: 'sync all files to the disk, so that the result also survives a power cut',
} as const

/** Options that only affect how a patch is applied. Other commands refuse them, because they would have no effect. */
const ofPatches = [
  ['check', '--check'],
  ['diff', '--diff'],
  ['strict', '--strict'],
  ['reverse', '--reverse'],
  ['unsafePaths', '--unsafe-paths'],
] as const

/**
 * The commands that do something other than apply a patch. `own` is the option that the command accepts in addition to the general ones, and `foreign`
 * lists the options of `apply-patch` that it refuses.
 */
export const commands = [
  {
    name: 'undo',
    description: 'revert the last applied patch, if its files have not changed since then',
    help: undoHelp,
    own: durable,
    foreign: ofPatches,
  },
  {
    name: 'recover',
    description: 'restore or complete the files of an apply-patch that crashed',
    help: recoverHelp,
    own: {
      flag: '--abandon',
      meaning: "if a crashed run can't be recovered, forget it, and leave its files as they are",
    },
    // Recovery uses only data that is already on the disk, so `--durable` would have no effect.
    foreign: [...ofPatches, ['durable', '--durable']],
  },
  {
    name: 'prune',
    description: 'remove the journals of applied patches, which then can not be reverted any more',
    help: pruneHelp,
    own: { flag: '--all', meaning: 'of all trees of this user, not only of this one' },
    foreign: [...ofPatches, ['durable', '--durable']],
  },
] as const
