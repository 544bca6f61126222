import { common, waitsForCommands, type Part } from './common.ts'
import { patchFormat } from './patch-format.ts'

/** The instructions for models without their own, including Gemini and local ones, and for runs in which models from several vendors take turns. */
export const other = (part: Part): string => `${common(
  {
    search: 'Find things with grep and glob; in the shell use rg.',
    edit: 'Change one place with edit_file, several at once with apply_patch, which applies completely or not at all; create files with write_file. Do not write files from the shell.',
    list: 'todo',
    longCommands: waitsForCommands,
  },
  part,
)}

A command or a patch in a message has no effect: call a tool by its declared name.

${patchFormat}`
