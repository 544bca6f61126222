import { accessSync, constants } from 'node:fs'

/** A shell that reads command lines. */
export type Shell = '/bin/bash' | '/bin/sh'

/** The shell of this machine: bash, or on systems without bash (Alpine, NixOS) the one that every system has. */
export function hostShell(): Shell {
  try {
    accessSync('/bin/bash', constants.X_OK)
    return '/bin/bash'
  } catch {
    return '/bin/sh'
  }
}
