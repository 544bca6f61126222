import type { Instruction } from '../machine-code/machine-instructions.ts'
import { bufferBytes, POLLIN, waitingFor, type State } from './terminal-state.ts'
import { SIGTERM, TIOCSWINSZ } from '../machine-code/kernel.ts'

// These constants have the same values on both processors (asm-generic).
const TIOCGPGRP = 0x540f
const WNOHANG = 1
const POLLOUT = 4n

/** An entry for ppoll(2) that waits for no descriptor. */
const unused = 0xffff_ffffn
/**
 * A mask for the upper 16 bits of a ppoll(2) entry, which contain the events that occurred. It includes errors and hang-ups, which must be noticed
 * too.
 */
const anything = 0xffffn << 48n
const readable = (POLLIN | 8n | 16n) << 48n
const takesMore = POLLOUT << 48n

/**
 * Waits until there is something to do. It waits for new input only when all earlier input has been written, and for new output only when all earlier
 * output has been written. Therefore none of the program's other system calls blocks.
 */
export function waitForWork({
  waiting,
  keyboard,
  resizing,
  master,
  signals,
  typed,
  shown,
}: State): readonly Instruction[] {
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

/** Reads a new size if one has arrived, and changes the terminal to this size. */
export function resize({ waiting, resizing, size, master, count }: State, control: number): readonly Instruction[] {
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

/** Copies typed input from standard input to the terminal. */
export function type({ waiting, keyboard, typed, master, count }: State): readonly Instruction[] {
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

/** Copies the terminal's output to standard output. */
export function show({ waiting, shown, master, count }: State): readonly Instruction[] {
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
    // New output is read only after all earlier output has been written.
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

/** Passes SIGTERM on to the foreground process group and to the command, and detects that the command has ended. */
export function hearSignals({
  waiting,
  signals,
  signal,
  child,
  status,
  group,
  master,
  count,
}: State): readonly Instruction[] {
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
    // A struct signalfd_siginfo begins with the signal's number and a zero.
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
