import type { Architecture } from '../machine-code/instructions.ts'
import { makeProgram } from '../machine-code/make-program.ts'
import { hearSignals, resize, show, type, waitForWork } from './event-loop.ts'
import { finish } from './finish.ts'
import { open, start } from './set-up.ts'
import { layOut } from './terminal-state.ts'

/** How the program says that it has no terminal to give: the status of a command that can't be run (sh). */
const cannotRun = 126

/** The size that a terminal gets, as the program reads it from its control descriptor: `struct winsize`, 8 bytes. */
export function sizeMessage({ columns, rows }: { readonly columns: number; readonly rows: number }): Uint8Array {
  const message = Buffer.alloc(8)
  message.writeUInt16LE(rows, 0)
  message.writeUInt16LE(columns, 2)
  return message
}

/**
 * A program that runs the command in its arguments (a path, and its own arguments from the second on) in a new pseudo-terminal, as the leader of a
 * session whose controlling terminal that is, and carries its own standard input to the terminal and the terminal's output to its standard output
 * until the command has ended. It ends as the command did. Each message on `control` is a size; the first one is waited for.
 *
 * Node can make no terminal, and a terminal made inside a sandbox's own `/dev` is one that nothing outside has.
 * SIGTERM goes on to whoever is in the foreground and to the command; they are in another session than whoever sends it.
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
