import type { Architecture } from '../machine-code/machine-instructions.ts'
import { makeProgram } from '../machine-code/make-program.ts'
import { hearSignals, resize, show, type, waitForWork } from './event-loop.ts'
import { finish } from './finish.ts'
import { open, start } from './set-up.ts'
import { layOut } from './terminal-state.ts'

/** The exit code if the terminal can't be created or the command can't be started. It is the code that sh uses for a command that can't be run. */
const cannotRun = 126

/**
 * A message that tells the terminal program the size of the terminal: a `struct winsize` (8 bytes). It is sent through the program's control
 * descriptor.
 */
export function sizeMessage({ columns, rows }: { readonly columns: number; readonly rows: number }): Uint8Array {
  const message = Buffer.alloc(8)
  message.writeUInt16LE(rows, 0)
  message.writeUInt16LE(columns, 2)
  return message
}

/**
 * A program that creates a pseudo-terminal and runs a command in it. The command leads a session of its own, whose controlling terminal is the
 * pseudo-terminal. The program's first argument is the path of the command's program, and the other arguments are passed to that program. Until the
 * command has ended, the terminal program copies its own standard input to the terminal, and the terminal's output to its standard output. It ends in
 * the same way as the command. Each message on `control` is a size; the terminal program waits for the first size before it creates the terminal.
 *
 * It is needed because Node can't create terminals, and because a terminal from a sandbox's own `/dev` must be created inside the sandbox. It passes
 * SIGTERM on to the foreground process group and to the command, because both are in a session of their own, which the sender's signals don't reach.
 */
export function terminalProgram(architecture: Architecture, control: number): Uint8Array {
  return makeProgram(architecture, (memory) => {
    const state = layOut(memory, control)
    return [
      ...open(memory, state, control),
      ...start(memory, state, control),
      { label: 'loop' },
      ...waitForWork(state),
      ...resize(state, control),
      ...type(state),
      ...show(state),
      ...hearSignals(state),
      { goto: 'loop' },
      ...finish(memory, state),
      { label: 'failed' },
      { call: 'exit', operands: [cannotRun] },
    ]
  })
}
