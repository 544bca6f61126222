import { isAbsolute, join } from 'node:path'
import process from 'node:process'
import { isExecutable } from '../locate-program.ts'

/** The paths where packages install bwrap. They are tried first, because `PATH` may name directories that a repository controls. */
const usual = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap']

/** Returns the path of this machine's bwrap; undefined if there is none. */
export function locateBubblewrap(): string | undefined {
  const onPath = (process.env['PATH'] ?? '')
    .split(':')
    .filter((directory) => isAbsolute(directory) && !directory.includes('node_modules'))
    .map((directory) => join(directory, 'bwrap'))
  return [...usual, ...onPath].find(isExecutable)
}
