import type { Architecture, Instruction, Operand, Variable } from '../machine-code/machine-instructions.ts'
import { makeForm, words, type Memory, type ProgramForm } from '../machine-code/make-program.ts'
import { mountInstructions } from '../mounting/mount-program.ts'
import { compileFilter } from '../seccomp/compile.ts'
import { limitWatches } from './watch-limits.ts'
import { filterRules, type SocketAccess } from '../seccomp/rules.ts'
import {
  AT_EMPTY_PATH,
  AT_FDCWD,
  OPEN_TREE_CLONE,
  O_CLOEXEC,
  O_PATH,
  O_WRONLY,
  PR_SET_NO_NEW_PRIVS,
  SECCOMP_SET_MODE_FILTER,
} from '../machine-code/kernel.ts'

const CLONE_NEWUSER = 0x1000_0000
const PR_CAPBSET_DROP = 24
const capabilityVersion = 0x2008_0522
const allDescriptors = 0xffff_ffff
const CLOSE_RANGE_CLOEXEC = 4
const cannotRun = 125

/** What the machine code of a sandbox's first program (see `startProgram`) depends on, apart from the data that is appended for each command. */
export type StartForm = {
  /** A descriptor whose other end the engine holds. It carries reports about failures, and the engine's go-ahead for the command. */
  readonly report: number
  /** Descriptors above 2 that stay open for the next program; all others are closed. */
  readonly kept: readonly number[]
  readonly filter: SocketFilter
}

/** The sockets that the system call filter permits. Unix sockets are permitted separately. */
type SocketFilter = { readonly sockets: SocketAccess; readonly unixSockets: boolean }

/** Returns the key under which the encoded program of a form is stored. It is different for each form. */
export function keyOfForm(architecture: Architecture, { report, kept, filter }: StartForm): string {
  return [architecture, filter.sockets, filter.unixSockets, report, ...kept].join(' ')
}

/** The forms that nearly all commands need: those for commands without a terminal and without an allow-list. The build encodes them. */
export const usualStarts = (['x64', 'arm64'] as const).flatMap((architecture) =>
  (['loopback', 'internet'] as const).map(
    (sockets) => [architecture, { report: 6, kept: [], filter: { sockets, unixSockets: false } }] as const,
  ),
)

/** The offsets of the values in the data that is appended to the program: addresses, the lengths of texts, and `nullInput`, which is 0 or 1. */
const startOffsets = {
  steps: 0,
  directory: 8,
  variables: 16,
  userMap: 24,
  userMapLength: 32,
  groupMap: 40,
  groupMapLength: 48,
  instances: 56,
  instancesLength: 64,
  watches: 72,
  watchesLength: 80,
  nullInput: 88,
} as const
export const sizeOfStartOffsets = 96

/** Encodes the first program of a sandbox (see `startProgram`), except for the data that is appended for each command. */
export function startForm(architecture: Architecture, start: StartForm): ProgramForm {
  const filter = compileFilter(filterRules(start.filter.sockets, start.filter.unixSockets), architecture)
  return makeForm(architecture, (memory, appended) => {
    const state: Names = { procfs: memory.variable(), error: memory.variable() }
    // `Object.keys` returns strings of any kind as far as TypeScript knows, but the keys of this constant object are known.
    const names = Object.keys(startOffsets) as (keyof typeof startOffsets)[]
    const own = Object.fromEntries(names.map((name) => [name, memory.variable()])) as Given
    return [
      ...names.map((name): Instruction => ({ load: own[name], from: appended, offset: startOffsets[name] })),
      // The ready mark is sent this early so that the engine can answer while the program makes the mounts.
      ...sayReady(memory, start.report),
      ...openProcesses(memory, state),
      ...limitWatches(memory, own, state),
      ...mountInstructions(memory, own.steps, start.report),
      ...openInput(memory, own, state),
      ...leaveRoot(memory, own, state),
      ...closeOthers([...start.kept, start.report]),
      { call: 'close_range', operands: [start.report, start.report, CLOSE_RANGE_CLOEXEC] },
      { call: 'chdir', operands: [own.directory], result: state.error, failed: 'directory' },
      ...awaitGoAhead(memory, start.report),
      ...applyFilter(memory, filter, state),
      ...become(memory, own.variables, state),
      ...fail(memory, start.report, state),
    ]
  })
}

/** The variables into which the appended data is loaded. */
type Given = Readonly<Record<keyof typeof startOffsets, Variable>>

/** The first words of the program's failure reports. Reports about failures to mount have first words of their own (`mountFailures`). */
export const startFailures = { start: 'start ', program: 'program ', directory: 'directory ' } as const

type Names = Readonly<Record<'procfs' | 'error', Variable>>

/**
 * Returns instructions that open a copy of the sandbox's own /proc in which no mount covers anything. The copy stays open and writable while the
 * /proc that commands see becomes read-only.
 */
function openProcesses(memory: Memory, { procfs, error }: Names): readonly Instruction[] {
  const directory = memory.variable()
  return [
    {
      call: 'openat',
      operands: [AT_FDCWD, memory.bytes('/proc\0'), O_PATH | O_CLOEXEC],
      result: directory,
    },
    { set: error, to: directory },
    { when: directory, negative: true, goto: 'broken' },
    {
      call: 'open_tree',
      operands: [directory, memory.bytes('\0'), OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH],
      result: procfs,
    },
    { set: error, to: procfs },
    { when: procfs, negative: true, goto: 'broken' },
  ]
}

/**
 * The first message that a sandbox's first program sends. By then, the kernel has been told to kill bwrap when the engine dies, and the sandbox when
 * bwrap dies. So if the engine dies later, the program dies too. If the engine was killed earlier, nobody answers the message, so nothing starts.
 */
export const readyMark = '!'
/** The engine's answer to the ready mark. The sandbox's first program waits for it before it starts the command. */
export const goAhead = '.'

function sayReady(memory: Memory, report: number): readonly Instruction[] {
  return [{ call: 'write', operands: [report, memory.bytes(readyMark), readyMark.length] }]
}

/** Returns instructions that wait for the engine's go-ahead. If the engine has died, the read returns end of file instead, and the program exits. */
function awaitGoAhead(memory: Memory, report: number): readonly Instruction[] {
  const got = memory.variable()
  return [
    { call: 'read', operands: [report, memory.space(8), goAhead.length], result: got },
    { when: got, is: goAhead.length, goto: 'released' },
    { goto: 'orphaned' },
    { label: 'released' },
  ]
}

/**
 * Returns instructions that enter a user namespace in which the program has an ordinary user id and no capabilities. The namespace owns no mounts, so
 * no mount can be changed from it.
 */
function leaveRoot(memory: Memory, given: Given, { procfs, error }: Names): readonly Instruction[] {
  const file = memory.variable()
  const write = (name: string, text: Operand, length: Operand): readonly Instruction[] => [
    {
      call: 'openat',
      operands: [procfs, memory.bytes(`self/${name}\0`), O_WRONLY | O_CLOEXEC],
      result: file,
    },
    { set: error, to: file },
    { when: file, negative: true, goto: 'broken' },
    { call: 'write', operands: [file, text, length], result: error, failed: 'broken' },
    { call: 'close', operands: [file] },
  ]
  const capability = memory.variable()
  // A struct __user_cap_header_struct for this process, and empty capability sets.
  const header = memory.bytes(words(capabilityVersion))
  const none = memory.bytes(words(0, 0, 0))
  return [
    { call: 'unshare', operands: [CLONE_NEWUSER], result: error, failed: 'broken' },
    ...write('setgroups', memory.bytes('deny'), 'deny'.length),
    ...write('uid_map', given.userMap, given.userMapLength),
    ...write('gid_map', given.groupMap, given.groupMapLength),
    { label: 'drop' },
    { call: 'prctl', operands: [PR_CAPBSET_DROP, capability, 0, 0, 0], failed: 'dropped' },
    { add: 1, to: capability },
    { goto: 'drop' },
    { label: 'dropped' },
    { call: 'capset', operands: [header, none], result: error, failed: 'broken' },
  ]
}

/**
 * Returns instructions that open the sandbox's null device as standard input if `nullInput` is set. bwrap's own null device is not used, because it
 * is in one of the host's mounts, where its owner could change its mode.
 */
function openInput(memory: Memory, { nullInput }: Given, { error }: Names): readonly Instruction[] {
  const device = memory.variable()
  return [
    { when: nullInput, is: 0, goto: 'inputKept' },
    { call: 'openat', operands: [AT_FDCWD, memory.bytes('/dev/null\0'), 0], result: device },
    { set: error, to: device },
    { when: device, negative: true, goto: 'broken' },
    { call: 'dup3', operands: [device, 0, 0], result: error, failed: 'broken' },
    { call: 'close', operands: [device] },
    { label: 'inputKept' },
  ]
}

/** Returns instructions that close all descriptors above 2 except those in `kept`. */
function closeOthers(kept: readonly number[]): readonly Instruction[] {
  const sorted = kept.toSorted((a, b) => a - b)
  return [2, ...sorted].flatMap((before, index): readonly Instruction[] => {
    const first = before + 1
    const last = (sorted[index] ?? allDescriptors + 1) - 1
    return first > last ? [] : [{ call: 'close_range', operands: [first, last, 0] }]
  })
}

function applyFilter(memory: Memory, filter: Uint8Array, { error }: Names): readonly Instruction[] {
  // A struct sock_fprog: the number of instructions (each is 8 bytes long) and their address.
  const program = memory.bytes(words(filter.length / 8, memory.bytes(filter)))
  return [
    { call: 'prctl', operands: [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], result: error, failed: 'broken' },
    { call: 'seccomp', operands: [SECCOMP_SET_MODE_FILTER, 0, program], result: error, failed: 'broken' },
  ]
}

/** Returns instructions that start the program named by the first argument, with the remaining arguments and the environment `variables`. */
function become(memory: Memory, variables: Variable, { error }: Names): readonly Instruction[] {
  const [stack, path, ownArguments] = [memory.variable(), memory.variable(), memory.variable()]
  return [
    // The stack holds the number of arguments and then their addresses. The first argument is the path of this program.
    { takeStack: stack },
    { load: path, from: stack, offset: 16 },
    { set: ownArguments, to: stack },
    { add: 16, to: ownArguments },
    { call: 'execve', operands: [path, ownArguments, variables], result: error },
  ]
}

function fail(memory: Memory, report: number, { error }: Names): readonly Instruction[] {
  const code = memory.variable()
  return [
    ...(['program', 'directory', 'start'] as const).flatMap((label): readonly Instruction[] => [
      { label: label === 'start' ? 'broken' : label },
      { call: 'write', operands: [report, memory.bytes(startFailures[label]), startFailures[label].length] },
      { goto: 'end' },
    ]),
    { label: 'end' },
    { subtract: error, from: code },
    { call: 'exit', operands: [code] },
    { label: 'orphaned' },
    { call: 'exit', operands: [cannotRun] },
  ]
}
