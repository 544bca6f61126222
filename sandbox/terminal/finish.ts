import type { Instruction } from '../machine-code/machine-instructions.ts'
import { words, type Memory } from '../machine-code/make-program.ts'
import { bufferBytes, type State } from './terminal-state.ts'
import { SIG_SETMASK } from '../machine-code/kernel.ts'

/** The maximum number of buffers of output to read after the command has ended. A terminal can't hold that much output. */
const lastBuffers = 32

/** Copies the rest of the command's output, and then ends in the same way as the command. */
export function finish(memory: Memory, { shown, master, status, count }: State): readonly Instruction[] {
  const none = memory.bytes(words(0))
  const rounds = memory.variable(lastBuffers)
  const self = memory.variable()
  return [
    { label: 'ended' },
    { when: shown.left, is: 0, goto: 'readLast' },
    { call: 'write', operands: [1, shown.from, shown.left], result: count, failed: 'end' },
    { add: count, to: shown.from },
    { subtract: count, from: shown.left },
    { goto: 'ended' },
    { label: 'readLast' },
    // The number of rounds is limited, because background processes of the command may print forever.
    { when: rounds, is: 0, goto: 'end' },
    { subtract: 1, from: rounds },
    { set: shown.from, to: shown.buffer },
    { call: 'read', operands: [master, shown.buffer, bufferBytes], result: shown.left, failed: 'end' },
    { when: shown.left, is: 0, goto: 'end' },
    { goto: 'ended' },
    { label: 'end' },
    { when: status, hasAnyOf: 0x7f, goto: 'killed' },
    // The exit code is the second byte of the status; the kernel ignores the higher bytes.
    { call: 'exit', operands: [{ address: status.address + 1 }] },
    { label: 'killed' },
    { call: 'rt_sigprocmask', operands: [SIG_SETMASK, none, 0, 8] },
    { call: 'getpid', operands: [], result: self },
    { call: 'kill', operands: [self, status] },
    { add: 128, to: status },
    { call: 'exit', operands: [status] },
  ]
}
