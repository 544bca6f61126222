import { recoverHelp, undoHelp } from './help.ts'

/** An option that two commands have. */
export const durable = { flag: '--durable', meaning: 'sync to the disk, so that it survives a power cut too' } as const

/** Options that are about applying a patch; other commands would ignore them. */
const ofPatches = [
  ['check', '--check'],
  ['diff', '--diff'],
  ['strict', '--strict'],
  ['reverse', '--reverse'],
  ['unsafePaths', '--unsafe-paths'],
] as const

/** What the program does besides applying: the option that is a command's own, and those that mean nothing to it. */
export const commands = [
  {
    name: 'undo',
    description: 'take back the last applied patch, if the files are still what it left',
    help: undoHelp,
    own: durable,
    foreign: ofPatches,
  },
  {
    name: 'recover',
    description: 'put in order what a crashed run left',
    help: recoverHelp,
    own: { flag: '--abandon', meaning: 'give up what can not be put in order, and keep the files as they are' },
    // Recovery uses only what is on the disk already.
    foreign: [...ofPatches, ['durable', '--durable']],
  },
] as const
