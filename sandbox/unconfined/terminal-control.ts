import { join } from 'node:path'
import { writeFileSync } from '../host-paths.ts'
import { SandboxError } from '../sandbox-error.ts'
import { requireArchitecture } from '../machine-code/architecture.ts'
import { isExecutable } from '../locate-program.ts'
import { terminalProgram } from '../terminal/terminal-program.ts'

/** The terminal program's control descriptor: the first descriptor after standard input, output and error. */
export const terminalControl = 3

/**
 * Returns a function that returns the path of the terminal program. On its first call, the function writes the program to `directory`. It throws
 * `unavailable` if there is no such program for this machine, or if programs in `directory` can't be run.
 */
export function keepTerminalProgram(directory: string, backend: 'unconfined' | 'external'): () => string {
  let file: string | undefined
  return () => {
    if (file !== undefined) return file
    const made = join(directory, 'terminal')
    writeFileSync(made, terminalProgram(requireArchitecture(backend, 'terminal'), terminalControl), {
      mode: 0o700,
    })
    if (!isExecutable(made)) {
      throw new SandboxError('unavailable', {
        backend,
        reason: `a terminal needs a helper program, and no program can be run from ${directory}`,
        remedy: 'Set TMPDIR to a directory that is not mounted noexec, or run the command without a terminal.',
      })
    }
    file = made
    return made
  }
}
