import type { Architecture, Instruction, Variable } from '../machine-code/instructions.ts'
import { layOut, makeForm, words, type Memory, type ProgramForm } from '../machine-code/program.ts'
import { mountInstructions } from '../mounting/mount-program.ts'
import { keyOfSteps, layOutSteps, type Step } from '../mounting/steps.ts'
import { onceFor } from '../once-for.ts'
import {
  AT_EMPTY_PATH,
  AT_FDCWD,
  AT_RECURSIVE,
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

/** Where the program is shown inside: `/dev` is made for each sandbox anew. */
export const startPath = '/dev/portcullis-start'

/** What the program does between bwrap and a command. */
type Start = {
  /** Builds what the command sees, over all of the host's files as the caller sees them. */
  readonly steps: readonly Step[]
  /** Whose other end the engine holds: failures are told through it, and nothing is started without the engine's go-ahead. */
  readonly report: number
  /** Further descriptors, above 2, for whatever comes next; all others are closed. */
  readonly kept: readonly number[]
  readonly identity: { readonly uid: number; readonly gid: number }
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  /** The system call filter, as `compileFilter` gives it. */
  readonly filter: Uint8Array
}

/**
 * The first program inside a sandbox: it mounts what the command may see, gives up every capability by going to a user namespace of its own, closes
 * what descriptors the caller left open, puts itself under the filter, and becomes the program in its arguments.
 *
 * bwrap starts it as root of a user namespace that owns the mounts, so that it can mount by descriptors, which bwrap itself can't:
 * that resolves each path twice, while other commands may be renaming its parts.
 */
export function startProgram(architecture: Architecture, start: Start): Uint8Array {
  const forms = formsOf(start.filter)
  const key = [architecture, start.report, ...start.kept, 'as', start.identity.uid, start.identity.gid].join(' ')
  const form = forms.get(key) ?? { ...startForm(architecture, start), plans: new Map<string, Plan>() }
  forms.set(key, form)
  const planned = form.address + sizeOfOffsets
  const plan = planFor(form.plans, start.steps, planned)
  const own = layOut(planned + plan.content.length, (memory) => {
    const directory = memory.bytes(`${start.cwd}\0`)
    const variables = Object.entries(start.variables).map(([name, value]) => memory.bytes(`${name}=${value}\0`))
    return { directory, variables: memory.bytes(words(...variables, 0)) }
  })
  // In the order of `offsets`.
  return form.finish(words(plan.answer, own.answer.directory, own.answer.variables), plan.content, own.content)
}

/** Steps laid out at their place in a form, and the address of the first. */
type Plan = { readonly content: Uint8Array; readonly answer: number }

/** The programs that were encoded for a filter, by all else that is in them from the start, with what was planned for them lately. */
const formsOf = onceFor((_filter: Uint8Array) => new Map<string, ProgramForm & { readonly plans: Map<string, Plan> }>())
const mostPlans = 8

/** Most commands of a run have the same plan. */
function planFor(plans: Map<string, Plan>, steps: readonly Step[], address: number): Plan {
  const key = keyOfSteps(steps)
  const plan = plans.get(key) ?? layOut(address, (memory) => layOutSteps(memory, steps))
  if (plans.size >= mostPlans && !plans.has(key)) plans.clear()
  plans.set(key, plan)
  return plan
}

/** Where in what is appended to the program the addresses of its parts stand. */
const offsets = { steps: 0, directory: 8, variables: 16 } as const
const sizeOfOffsets = 24

type FixedStart = Omit<Start, 'steps' | 'cwd' | 'variables'>

function startForm(architecture: Architecture, start: FixedStart): ProgramForm {
  return makeForm(architecture, (memory, appended) => {
    const names: Names = { procfs: memory.variable(), error: memory.variable() }
    const [steps, directory, variables] = [memory.variable(), memory.variable(), memory.variable()]
    return [
      { load: steps, from: appended, offset: offsets.steps },
      { load: directory, from: appended, offset: offsets.directory },
      { load: variables, from: appended, offset: offsets.variables },
      // Answered while the mounts are made.
      ...sayReady(memory, start.report),
      ...openProcesses(memory, names),
      ...mountInstructions(memory, steps, start.report),
      ...leaveRoot(memory, start, names),
      ...closeOthers([...start.kept, start.report]),
      { call: 'close_range', operands: [start.report, start.report, CLOSE_RANGE_CLOEXEC] },
      { call: 'chdir', operands: [directory], result: names.error, failed: 'directory' },
      ...awaitGoAhead(memory, start.report),
      ...applyFilter(memory, start.filter, names),
      ...become(memory, variables, names),
      ...fail(memory, start.report, names),
    ]
  })
}

/** How a failure after the mounts begins, in the report. */
export const startFailures = { start: 'start ', program: 'program ', directory: 'directory ' } as const

type Names = Readonly<Record<'procfs' | 'error', Variable>>

/** The sandbox's own /proc, held while the one that commands see becomes read-only. */
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
      operands: [directory, memory.bytes('\0'), OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE],
      result: procfs,
    },
    { set: error, to: procfs },
    { when: procfs, negative: true, goto: 'broken' },
  ]
}

/**
 * What the program says first. By then bwrap has tied the whole sandbox to its own life, and its own to the engine's: whatever ends the engine
 * later ends this program too. An engine that was killed earlier never answers, and nobody else can.
 */
export const readyMark = '!'
/** What it waits for before anything of the command runs. */
export const goAhead = '.'

function sayReady(memory: Memory, report: number): readonly Instruction[] {
  return [{ call: 'write', operands: [report, memory.bytes(readyMark), readyMark.length] }]
}

/** Ends where the engine did: at the end of what is read, once nobody holds the other end. */
function awaitGoAhead(memory: Memory, report: number): readonly Instruction[] {
  const got = memory.variable()
  return [
    { call: 'read', operands: [report, memory.space(8), goAhead.length], result: got },
    { when: got, is: goAhead.length, goto: 'released' },
    { goto: 'orphaned' },
    { label: 'released' },
  ]
}

/** Into a user namespace where the caller has an ordinary id and which owns nothing: no mount can be changed from there. */
function leaveRoot(memory: Memory, { identity }: FixedStart, { procfs, error }: Names): readonly Instruction[] {
  const file = memory.variable()
  const write = (name: string, text: string): readonly Instruction[] => [
    {
      call: 'openat',
      operands: [procfs, memory.bytes(`self/${name}\0`), O_WRONLY | O_CLOEXEC],
      result: file,
    },
    { set: error, to: file },
    { when: file, negative: true, goto: 'broken' },
    { call: 'write', operands: [file, memory.bytes(text), text.length], result: error, failed: 'broken' },
    { call: 'close', operands: [file] },
  ]
  const capability = memory.variable()
  // struct __user_cap_header_struct for this process, and no capability in any set.
  const header = memory.bytes(words(capabilityVersion))
  const none = memory.bytes(words(0, 0, 0))
  return [
    { call: 'unshare', operands: [CLONE_NEWUSER], result: error, failed: 'broken' },
    ...write('setgroups', 'deny'),
    ...write('uid_map', `${identity.uid} 0 1\n`),
    ...write('gid_map', `${identity.gid} 0 1\n`),
    { label: 'drop' },
    { call: 'prctl', operands: [PR_CAPBSET_DROP, capability, 0, 0, 0], failed: 'dropped' },
    { add: 1, to: capability },
    { goto: 'drop' },
    { label: 'dropped' },
    { call: 'capset', operands: [header, none], result: error, failed: 'broken' },
  ]
}

/** Closes all descriptors above 2 but these. */
function closeOthers(kept: readonly number[]): readonly Instruction[] {
  const sorted = kept.toSorted((a, b) => a - b)
  return [2, ...sorted].flatMap((before, index): readonly Instruction[] => {
    const first = before + 1
    const last = (sorted[index] ?? allDescriptors + 1) - 1
    return first > last ? [] : [{ call: 'close_range', operands: [first, last, 0] }]
  })
}

function applyFilter(memory: Memory, filter: Uint8Array, { error }: Names): readonly Instruction[] {
  // struct sock_fprog: the number of instructions, of 8 bytes each, and their address.
  const program = memory.bytes(words(filter.length / 8, memory.bytes(filter)))
  return [
    { call: 'prctl', operands: [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], result: error, failed: 'broken' },
    { call: 'seccomp', operands: [SECCOMP_SET_MODE_FILTER, 0, program], result: error, failed: 'broken' },
  ]
}

/** Replaces the program by the one that its arguments name, which gets them and these variables. */
function become(memory: Memory, variables: Variable, { error }: Names): readonly Instruction[] {
  const [stack, path, ownArguments] = [memory.variable(), memory.variable(), memory.variable()]
  return [
    // On the stack: the number of arguments, then the arguments, this program first.
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
