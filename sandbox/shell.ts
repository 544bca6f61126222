import { constants } from 'node:fs'
import { accessSync } from './host-paths.ts'

/** A shell that interprets command lines. */
export type Shell = '/bin/bash' | '/bin/sh'

/** The shell of this machine: `/bin/bash`, or `/bin/sh` on systems without that file (Alpine, NixOS). */
export function hostShell(): Shell {
  try {
    accessSync('/bin/bash', constants.X_OK)
    return '/bin/bash'
  } catch {
    return '/bin/sh'
  }
}
