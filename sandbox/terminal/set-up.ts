import type { Instruction } from '../machine-code/machine-instructions.ts'
import { words, type Memory } from '../machine-code/make-program.ts'
import type { State } from './terminal-state.ts'
import { AT_FDCWD, O_CLOEXEC, SIGCHLD, SIGTERM, SIG_SETMASK, TIOCSWINSZ } from '../machine-code/kernel.ts'

// These constants have the same values on both processors (asm-generic).
const O_RDWR = 2
const O_NOCTTY = 0o400
const O_NONBLOCK = 0o4000
const TIOCSCTTY = 0x540e
const TIOCGPTPEER = 0x5441
const TIOCSPTLCK = 0x4004_5431
const SIG_BLOCK = 0

/** Reads the first size, and creates a terminal of this size. */
export function open(memory: Memory, { size, master, slave }: State, control: number): readonly Instruction[] {
  const path = memory.bytes('/dev/ptmx\0')
  const zero = memory.variable()
  return [
    { call: 'read', operands: [control, size.address, 8], failed: 'failed' },
    {
      call: 'openat',
      operands: [AT_FDCWD, path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC],
      result: master,
      failed: 'failed',
    },
    { call: 'ioctl', operands: [master, TIOCSPTLCK, zero.address], failed: 'failed' },
    // The terminal's other end is opened through the descriptor, because there may be no path to it inside a sandbox. This program keeps it open,
    // because the terminal would otherwise seem to have ended whenever no process has it open.
    { call: 'ioctl', operands: [master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC], result: slave, failed: 'failed' },
    { call: 'ioctl', operands: [master, TIOCSWINSZ, size.address], failed: 'failed' },
  ]
}

/** Starts the command as the leader of a session. The new terminal is the session's controlling terminal. */
export function start(
  memory: Memory,
  { stack, slave, signals, child }: State,
  control: number,
): readonly Instruction[] {
  const blocked = memory.bytes(words(2 ** (SIGTERM - 1) + 2 ** (SIGCHLD - 1)))
  const none = memory.bytes(words(0))
  const program = memory.variable()
  const ownArguments = memory.variable()
  const environment = memory.variable()
  const argumentCount = memory.variable()
  return [
    { takeStack: stack },
    { call: 'rt_sigprocmask', operands: [SIG_BLOCK, blocked, 0, 8], failed: 'failed' },
    { call: 'signalfd4', operands: [-1, blocked, 8, O_CLOEXEC], result: signals, failed: 'failed' },
    { call: 'clone', operands: [SIGCHLD, 0, 0, 0, 0], result: child, failed: 'failed' },
    { when: child, is: 0, goto: 'inChild' },
    { goto: 'loop' },
    { label: 'inChild' },
    { call: 'setsid', operands: [], failed: 'failed' },
    { call: 'ioctl', operands: [slave, TIOCSCTTY, 0], failed: 'failed' },
    ...[0, 1, 2].map((descriptor): Instruction => ({
      call: 'dup3',
      operands: [slave, descriptor, 0],
      failed: 'failed',
    })),
    { call: 'close', operands: [control] },
    { call: 'rt_sigprocmask', operands: [SIG_SETMASK, none, 0, 8], failed: 'failed' },
    // The stack contains, in this order, the number of arguments, the arguments, a zero, and the environment.
    { load: argumentCount, from: stack, offset: 0 },
    { load: program, from: stack, offset: 16 },
    { set: ownArguments, to: stack },
    { add: 16, to: ownArguments },
    { set: environment, to: ownArguments },
    ...Array.from({ length: 8 }, (): Instruction => ({ add: argumentCount, to: environment })),
    { call: 'execve', operands: [program, ownArguments, environment] },
    { goto: 'failed' },
  ]
}
