import type { Architecture, Instruction } from '../machine-code/instructions.ts'
import { makeProgram, words, type Memory } from '../machine-code/program.ts'

// The same on both processors (asm-generic).
const AT_FDCWD = -100
const O_RDWR = 2
const O_NOCTTY = 0o400
const O_NONBLOCK = 0o4000
const O_CLOEXEC = 0o200_0000
const TIOCSCTTY = 0x540e
const TIOCGPGRP = 0x540f
const TIOCSWINSZ = 0x5414
const TIOCGPTPEER = 0x5441
const TIOCSPTLCK = 0x4004_5431
const SIG_BLOCK = 0
const SIG_SETMASK = 2
const SIGTERM = 15
const SIGCHLD = 17
const WNOHANG = 1
const POLLIN = 1n
const POLLOUT = 4n

/** What a pipe takes at once whenever it takes anything (PIPE_BUF). */
const bufferBytes = 4096

/** What may still be in a terminal when its command has ended is less than this many buffers. */
const lastBuffers = 32

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

type State = ReturnType<typeof layOut>

function layOut(memory: Memory, control: number) {
  return {
    stack: memory.variable(),
    master: memory.variable(),
    slave: memory.variable(),
    signals: memory.variable(),
    child: memory.variable(),
    size: memory.variable(),
    count: memory.variable(),
    /** What was typed and the terminal has not taken yet, and the same for its output. */
    typed: { buffer: memory.space(bufferBytes), from: memory.variable(), left: memory.variable() },
    shown: { buffer: memory.space(bufferBytes), from: memory.variable(), left: memory.variable() },
    /** Entries for ppoll(2) of descriptors that end; one that has ended is `unused`. */
    keyboard: memory.variable(waitingFor(0n, POLLIN)),
    resizing: memory.variable(waitingFor(BigInt(control), POLLIN)),
    signal: { head: memory.variable(), rest: memory.space(120) },
    status: memory.variable(),
    group: memory.variable(),
    /** The array for ppoll(2). */
    waiting: {
      keyboard: memory.variable(),
      resizing: memory.variable(),
      master: memory.variable(),
      screen: memory.variable(),
      signals: memory.variable(),
    },
  }
}

/** `struct pollfd`, as one number: the descriptor, what is waited for, and what came. */
function waitingFor(descriptor: bigint, events: bigint): bigint {
  return descriptor + (events << 32n)
}
const unused = 0xffff_ffffn
/** What came is in the upper 16 bits; errors and ends count, since they must be noticed too. */
const anything = 0xffffn << 48n
const readable = (POLLIN | 8n | 16n) << 48n
const takesMore = POLLOUT << 48n

function open(memory: Memory, { size, master, slave }: State, control: number): readonly Instruction[] {
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
    // By its descriptor, since in a sandbox no name may lead to it. Kept open, or the end of its users would look like its own.
    { call: 'ioctl', operands: [master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC], result: slave, failed: 'failed' },
    { call: 'ioctl', operands: [master, TIOCSWINSZ, size.address], failed: 'failed' },
  ]
}

function start(memory: Memory, { stack, slave, signals, child }: State, control: number): readonly Instruction[] {
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
    // On the stack: the number of arguments, the arguments, a zero, the environment.
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

/** Waits for what can be done: new input only when the last was taken, and the same for output, so that nothing ever blocks but this. */
function waitForWork({ waiting, keyboard, resizing, master, signals, typed, shown }: State): readonly Instruction[] {
  return [
    { set: waiting.keyboard, to: unused },
    { set: waiting.resizing, to: resizing },
    { set: waiting.master, to: master },
    { set: waiting.screen, to: unused },
    { set: waiting.signals, to: signals },
    { add: waitingFor(0n, POLLIN), to: waiting.signals },
    { when: typed.left, is: 0, goto: 'noneTyped' },
    { add: waitingFor(0n, POLLOUT), to: waiting.master },
    { goto: 'afterTyped' },
    { label: 'noneTyped' },
    { set: waiting.keyboard, to: keyboard },
    { label: 'afterTyped' },
    { when: shown.left, is: 0, goto: 'noneShown' },
    { set: waiting.screen, to: waitingFor(1n, POLLOUT) },
    { goto: 'afterShown' },
    { label: 'noneShown' },
    { add: waitingFor(0n, POLLIN), to: waiting.master },
    { label: 'afterShown' },
    { call: 'ppoll', operands: [waiting.keyboard.address, 5, 0, 0, 8], failed: 'loop' },
  ]
}

function resize({ waiting, resizing, size, master, count }: State, control: number): readonly Instruction[] {
  return [
    { when: waiting.resizing, hasAnyOf: anything, goto: 'resize' },
    { goto: 'resized' },
    { label: 'resize' },
    { call: 'read', operands: [control, size.address, 8], result: count },
    { when: count, is: 8, goto: 'newSize' },
    { set: resizing, to: unused },
    { goto: 'resized' },
    { label: 'newSize' },
    { call: 'ioctl', operands: [master, TIOCSWINSZ, size.address] },
    { label: 'resized' },
  ]
}

function type({ waiting, keyboard, typed, master, count }: State): readonly Instruction[] {
  return [
    { when: waiting.keyboard, hasAnyOf: anything, goto: 'readKeys' },
    { goto: 'haveKeys' },
    { label: 'readKeys' },
    { set: typed.from, to: typed.buffer },
    { call: 'read', operands: [0, typed.buffer, bufferBytes], result: typed.left },
    { when: typed.left, is: 0, goto: 'noKeyboard' },
    { when: typed.left, negative: true, goto: 'noKeyboard' },
    { goto: 'haveKeys' },
    { label: 'noKeyboard' },
    { set: typed.left, to: 0 },
    { set: keyboard, to: unused },
    { label: 'haveKeys' },
    { when: waiting.master, hasAnyOf: takesMore, goto: 'type' },
    { goto: 'typed' },
    { label: 'type' },
    { call: 'write', operands: [master, typed.from, typed.left], result: count, failed: 'typed' },
    { add: count, to: typed.from },
    { subtract: count, from: typed.left },
    { label: 'typed' },
  ]
}

function show({ waiting, shown, master, count }: State): readonly Instruction[] {
  return [
    { when: waiting.screen, hasAnyOf: anything, goto: 'show' },
    { goto: 'shown' },
    { label: 'show' },
    { call: 'write', operands: [1, shown.from, shown.left], result: count, failed: 'nobodyLooks' },
    { add: count, to: shown.from },
    { subtract: count, from: shown.left },
    { goto: 'shown' },
    { label: 'nobodyLooks' },
    { set: shown.left, to: 0 },
    { label: 'shown' },
    // Only waited for when all before was shown.
    { when: waiting.master, hasAnyOf: readable, goto: 'readScreen' },
    { goto: 'readFully' },
    { label: 'readScreen' },
    { when: shown.left, is: 0, goto: 'readNow' },
    { goto: 'readFully' },
    { label: 'readNow' },
    { set: shown.from, to: shown.buffer },
    { call: 'read', operands: [master, shown.buffer, bufferBytes], result: shown.left, failed: 'nothingToRead' },
    { goto: 'readFully' },
    { label: 'nothingToRead' },
    { set: shown.left, to: 0 },
    { label: 'readFully' },
  ]
}

function hearSignals({ waiting, signals, signal, child, status, group, master, count }: State): readonly Instruction[] {
  const kill = (label: string): readonly Instruction[] => [
    { set: count, to: 0 },
    { subtract: group, from: count },
    { call: 'kill', operands: [count, SIGTERM] },
    { label },
  ]
  return [
    { when: waiting.signals, hasAnyOf: anything, goto: 'signal' },
    { goto: 'loop' },
    { label: 'signal' },
    // struct signalfd_siginfo, which begins with the signal's number and a zero.
    { call: 'read', operands: [signals, signal.head.address, 128], failed: 'loop' },
    { when: signal.head, is: SIGTERM, goto: 'endAll' },
    { call: 'wait4', operands: [child, status.address, WNOHANG, 0], result: count },
    { when: count, is: child, goto: 'ended' },
    { goto: 'loop' },
    { label: 'endAll' },
    { set: group, to: 0 },
    { call: 'ioctl', operands: [master, TIOCGPGRP, group.address] },
    { when: group, is: 0, goto: 'foregroundTold' },
    { when: group, is: child, goto: 'foregroundTold' },
    ...kill('foregroundTold'),
    { set: group, to: child },
    ...kill('commandTold'),
  ]
}

/** Shows what the command wrote last, and ends as it did. */
function finish(memory: Memory, { shown, master, status, count }: State): readonly Instruction[] {
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
    // What it left in the background may never be silent.
    { when: rounds, is: 0, goto: 'end' },
    { subtract: 1, from: rounds },
    { set: shown.from, to: shown.buffer },
    { call: 'read', operands: [master, shown.buffer, bufferBytes], result: shown.left, failed: 'end' },
    { when: shown.left, is: 0, goto: 'end' },
    { goto: 'ended' },
    { label: 'end' },
    { when: status, hasAnyOf: 0x7f, goto: 'killed' },
    // The second byte; the kernel looks at no more.
    { call: 'exit', operands: [{ address: status.address + 1 }] },
    { label: 'killed' },
    { call: 'rt_sigprocmask', operands: [SIG_SETMASK, none, 0, 8] },
    { call: 'getpid', operands: [], result: self },
    { call: 'kill', operands: [self, status] },
    { add: 128, to: status },
    { call: 'exit', operands: [status] },
  ]
}
