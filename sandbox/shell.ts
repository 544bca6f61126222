import { accessSync, constants } from 'node:fs'

/** A shell that command lines are read by. */
export type Shell = '/bin/bash' | '/bin/sh'

/** The shell of this machine: bash, or where there is none (Alpine, NixOS) the one that every system has. */
export function hostShell(): Shell {
  try {
    accessSync('/bin/bash', constants.X_OK)
    return '/bin/bash'
  } catch {
    return '/bin/sh'
  }
}
