import type { StartedProcess } from '../process/started.ts'
import type { Command } from '../sandbox.ts'
import { connectTerminal } from '../terminal/connect-terminal.ts'
import { helperInside } from './arguments.ts'

/** What one command needs in order to use a terminal. If the command doesn't use a terminal, every list is empty. */
type CommandTerminal = {
  /** Arguments to put before the command's own arguments, inside the sandbox. */
  readonly inside: readonly string[]
  /** The values of the `stdio` option of `spawn` for the child's additional descriptors, starting with the first free one. */
  readonly stdio: readonly 'pipe'[]
  /** The descriptors that the sandbox's first program leaves open for the helper that creates the terminal. */
  readonly kept: readonly number[]
  /** Connects a started child to our side of the terminal; `pipes` are our ends of the child's pipes. */
  connect(started: StartedProcess, pipes: readonly unknown[]): StartedProcess
}

const nothing: CommandTerminal = { inside: [], stdio: [], kept: [], connect: (started) => started }

/**
 * Prepares the terminal of a command. The helper creates it inside the sandbox, using the sandbox's own terminal devices.
 *
 * @param control the first free descriptor of the command
 */
export function prepareTerminal({ terminal: size }: Command, control: number): CommandTerminal {
  if (size === undefined) return nothing
  return {
    inside: [helperInside, 'terminal', `${control}`],
    stdio: ['pipe'],
    kept: [control],
    connect: (started, pipes) => connectTerminal(started, pipes[control], size),
  }
}
