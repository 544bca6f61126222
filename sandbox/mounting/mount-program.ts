import type { Instruction, Variable } from '../machine-code/machine-instructions.ts'
import { sharedMemory } from '../limits/shared-memory.ts'
import type { Memory } from '../machine-code/make-program.ts'
import { fields, kinds, mountFlags } from './step-layout.ts'
import { layOutWalk, walk } from './walk-program.ts'
import { AT_EMPTY_PATH, AT_RECURSIVE, OPEN_TREE_CLONE } from '../machine-code/kernel.ts'

const CLOSE_ON_EXEC = 0o200_0000
const MOVE_MOUNT_BY_DESCRIPTORS = 0x44
const FSOPEN_CLOEXEC = 1
const FSCONFIG_SET_STRING = 1
const FSCONFIG_CMD_CREATE = 6
const FSMOUNT_CLOEXEC = 1
const sizeOfChange = 32

/** The first word of the report that the mount program writes if a step fails, by the kind of failure. */
export const mountFailures = { gone: 'gone ', changed: 'changed ', failed: 'failed ' } as const

/**
 * Instructions that carry out the steps. `steps` is the variable with the address of the first record. Each mount is made from one descriptor onto
 * another, so that no name is looked up twice. If a step fails, one of `mountFailures` and the path are written to the descriptor `report`, and the
 * program exits with the error number, or with 0 if the path leads to a different entry than planned. Otherwise it continues with the next
 * instruction.
 */
export function mountInstructions(memory: Memory, steps: Variable, report: number): readonly Instruction[] {
  const state = layOutWalk(memory)
  const { record, at, error } = state
  const nothing = memory.bytes('\0')
  const [kind, slot, held, tree, flags, attributes, size] = [
    memory.variable(),
    memory.variable(),
    memory.variable(),
    memory.variable(),
    memory.variable(),
    memory.variable(),
    memory.variable(),
  ]
  const copy = (from: Variable): readonly Instruction[] => [
    {
      call: 'open_tree',
      operands: [from, nothing, OPEN_TREE_CLONE | CLOSE_ON_EXEC | AT_EMPTY_PATH | AT_RECURSIVE],
      result: tree,
    },
    { set: error, to: tree },
    { when: tree, negative: true, goto: 'failed' },
  ]
  return [
    { set: record, to: steps },
    { label: 'step' },
    { load: kind, from: record, offset: fields.kind },
    { when: kind, is: kinds.end, goto: 'mounted' },
    ...walk(memory, state),
    { load: slot, from: record, offset: fields.slot },
    { load: flags, from: record, offset: fields.changeFlags },
    { set: attributes, to: record },
    { add: fields.change, to: attributes },
    { when: kind, is: kinds.hold, goto: 'hold' },
    { when: kind, is: kinds.take, goto: 'take' },
    { when: kind, is: kinds.itself, goto: 'itself' },
    { when: kind, is: kinds.held, goto: 'held' },
    { when: kind, is: kinds.taken, goto: 'taken' },
    { when: kind, is: kinds.memory, goto: 'memory' },
    { when: kind, is: kinds.sharedMemory, goto: 'sharedMemory' },
    {
      call: 'mount_setattr',
      operands: [at, nothing, flags, attributes, sizeOfChange],
      result: error,
      failed: 'failed',
    },
    { goto: 'done' },

    { label: 'hold' },
    { store: at, to: slot, offset: 0 },
    { goto: 'next' },
    { label: 'take' },
    ...copy(at),
    { store: tree, to: slot, offset: 0 },
    { goto: 'done' },
    { label: 'itself' },
    ...copy(at),
    { goto: 'put' },
    { label: 'held' },
    { load: held, from: slot, offset: 0 },
    ...copy(held),
    { goto: 'put' },
    { label: 'taken' },
    { load: tree, from: slot, offset: 0 },
    { goto: 'put' },
    { label: 'memory' },
    ...makeTmpfs(memory, { mode: '0755' }, { tree, error }),
    { goto: 'put' },
    { label: 'sharedMemory' },
    ...makeTmpfs(memory, sharedMemoryOptions, { tree, error }),

    { label: 'put' },
    {
      call: 'mount_setattr',
      operands: [tree, nothing, flags, attributes, sizeOfChange],
      result: error,
      failed: 'failed',
    },
    {
      call: 'move_mount',
      operands: [tree, nothing, at, nothing, MOVE_MOUNT_BY_DESCRIPTORS],
      result: error,
      failed: 'failed',
    },
    { call: 'close', operands: [tree] },
    { label: 'done' },
    { call: 'close', operands: [at] },
    { label: 'next' },
    { load: size, from: record, offset: fields.size },
    { add: size, to: record },
    { goto: 'step' },

    ...Object.entries(mountFailures).flatMap(([label, text]): readonly Instruction[] => [
      { label },
      { call: 'write', operands: [report, memory.bytes(text), text.length] },
      { goto: 'complain' },
    ]),
    { label: 'complain' },
    ...tell(memory, state, report),
    { label: 'mounted' },
  ]
}

function tell(
  memory: Memory,
  { record, error }: { readonly record: Variable; readonly error: Variable },
  report: number,
): readonly Instruction[] {
  const [text, length, code] = [memory.variable(), memory.variable(), memory.variable()]
  return [
    { load: text, from: record, offset: fields.text },
    { load: length, from: record, offset: fields.textLength },
    { call: 'write', operands: [report, text, length] },
    { set: code, to: 0 },
    { subtract: error, from: code },
    { call: 'exit', operands: [code] },
  ]
}

const sharedMemoryOptions = { mode: '1777', size: `${sharedMemory.bytes}`, nr_inodes: `${sharedMemory.files}` } as const

/** Returns instructions that create a new, empty tmpfs with the given options (tmpfs(5)). */
function makeTmpfs(
  memory: Memory,
  options: Readonly<Record<string, string>>,
  { tree, error }: { readonly tree: Variable; readonly error: Variable },
): readonly Instruction[] {
  const context = memory.variable()
  return [
    { call: 'fsopen', operands: [memory.bytes('tmpfs\0'), FSOPEN_CLOEXEC], result: context },
    { set: error, to: context },
    { when: context, negative: true, goto: 'failed' },
    ...Object.entries(options).map(([name, value]): Instruction => ({
      call: 'fsconfig',
      operands: [context, FSCONFIG_SET_STRING, memory.bytes(`${name}\0`), memory.bytes(`${value}\0`), 0],
      result: error,
      failed: 'failed',
    })),
    { call: 'fsconfig', operands: [context, FSCONFIG_CMD_CREATE, 0, 0, 0], result: error, failed: 'failed' },
    {
      call: 'fsmount',
      operands: [context, FSMOUNT_CLOEXEC, mountFlags.noSetId | mountFlags.noDevices],
      result: tree,
    },
    { set: error, to: tree },
    { when: tree, negative: true, goto: 'failed' },
    { call: 'close', operands: [context] },
  ]
}
