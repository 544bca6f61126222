import { constants } from 'node:fs'
import { accessSync } from './host-paths.ts'

/** Quotes a text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

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
