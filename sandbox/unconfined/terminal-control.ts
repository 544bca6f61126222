import { SandboxError } from '../sandbox-error.ts'
import { installHelper, requireArchitecture } from '../helper/helper.ts'
import { isExecutable } from '../locate-program.ts'

/** The control descriptor of the helper as a terminal: the first descriptor after standard input, output and error. */
export const terminalControl = 3

/**
 * Returns a function that returns the words before a command that make it run in a terminal. On its first call, the function writes the helper to
 * `directory`. It throws `unavailable` if there is no helper for this machine, or if programs in `directory` can't be run.
 */
export function keepTerminalProgram(directory: string, backend: 'unconfined' | 'external'): () => readonly string[] {
  let words: readonly string[] | undefined
  return () => {
    if (words !== undefined) return words
    const made = installHelper(requireArchitecture(backend, 'terminal'), directory, 0o700)
    if (!isExecutable(made)) {
      throw new SandboxError('unavailable', {
        backend,
        reason: `a terminal needs a helper program, and no program can be run from ${directory}`,
        remedy: 'Set TMPDIR to a directory that is not mounted noexec, or run the command without a terminal.',
      })
    }
    words = [made, 'terminal', `${terminalControl}`]
    return words
  }
}
