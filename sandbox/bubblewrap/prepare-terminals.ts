import type { Architecture } from '../machine-code/machine-instructions.ts'
import type { StartedProcess } from '../process/started.ts'
import type { Command } from '../sandbox.ts'
import { connectTerminal } from '../terminal/connect-terminal.ts'
import { terminalProgram } from '../terminal/terminal-program.ts'
import type { ShownProgram } from './arguments.ts'

/** What one command needs in order to use a terminal. If the command doesn't use a terminal, every list is empty. */
type CommandTerminal = {
  /** Arguments to put before the command's own arguments, inside the sandbox. */
  readonly inside: readonly string[]
  /** The program that creates the terminal, to be mounted in the sandbox. */
  readonly shown: readonly ShownProgram[]
  /** The values of the `stdio` option of `spawn` for the child's additional descriptors, starting with the first free one. */
  readonly stdio: readonly 'pipe'[]
  /** The descriptors that the sandbox's first program leaves open for the program that creates the terminal. */
  readonly kept: readonly number[]
  /** Connects a started child to our side of the terminal; `pipes` are our ends of the child's pipes. */
  connect(started: StartedProcess, pipes: readonly unknown[]): StartedProcess
}

const path = '/dev/portcullis-terminal'

const nothing: CommandTerminal = { inside: [], shown: [], stdio: [], kept: [], connect: (started) => started }

/** Prepares the terminals of a sandbox's commands. Our own program creates them inside the sandbox, using the sandbox's own terminal devices. */
export function prepareTerminals(architecture: Architecture): {
  readonly start: (command: Command, freeDescriptor: number) => CommandTerminal
} {
  return {
    start: ({ terminal: size }, descriptor) => {
      if (size === undefined) return nothing
      const control = descriptor + 1
      return {
        inside: [path],
        shown: [{ descriptor, path, program: terminalProgram(architecture, control) }],
        stdio: ['pipe', 'pipe'],
        kept: [control],
        connect: (started, pipes) => connectTerminal(started, pipes[control], size),
      }
    },
  }
}
