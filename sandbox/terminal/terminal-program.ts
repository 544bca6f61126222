import type { Architecture } from '../machine-code/machine-instructions.ts'
import { makeProgram } from '../machine-code/make-program.ts'
import { hearSignals, resize, show, type, waitForWork } from './event-loop.ts'
import { finish } from './finish.ts'
import { open, start } from './set-up.ts'
import { layOut } from './terminal-state.ts'

/** The exit code when no terminal can be created: the status of a command that can't be run (sh). */
const cannotRun = 126

/** The message with a terminal's size, as the program reads it from its control descriptor: `struct winsize`, 8 bytes. */
export function sizeMessage({ columns, rows }: { readonly columns: number; readonly rows: number }): Uint8Array {
  const message = Buffer.alloc(8)
  message.writeUInt16LE(rows, 0)
  message.writeUInt16LE(columns, 2)
  return message
}

/**
 * A program that runs the command in its arguments (a path, and its own arguments from the second on) in a new pseudo-terminal, as the leader of a
 * session with that controlling terminal. Until the command has ended, it copies its own standard input to the terminal, and the terminal's output to
 * its standard output. It exits with the command's status. Each message on `control` is a size; the program waits for the first one.
 *
 * Node can't create terminals, and no process outside has a terminal that is created in a sandbox's own `/dev`. SIGTERM is passed on to the
 * foreground process group and to the command, because they are in another session than the sender.
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
