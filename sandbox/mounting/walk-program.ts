import type { Instruction, Variable } from '../machine-code/machine-instructions.ts'
import type { Memory } from '../machine-code/make-program.ts'
import { creations, fields } from './step-layout.ts'
import { AT_EMPTY_PATH, AT_FDCWD, O_CLOEXEC, O_CREAT, O_PATH, O_WRONLY } from '../machine-code/kernel.ts'

const ENOENT = -2
const EACCES = -13
const EEXIST = -17
const O_EXCL = 0o200
const O_NOFOLLOW = 0o40_0000
const pathOnly = O_PATH | O_NOFOLLOW | O_CLOEXEC

/** The variables that are used to open a path. */
type Walk = {
  /** The variable for the address of the record whose path is opened. */
  readonly record: Variable
  /** The variable for the descriptor of the entry at the path, once the entry is open. */
  readonly at: Variable
  /** The variable for the negative error number of a call that failed. */
  readonly error: Variable
}

/** Allocates the variables that a program needs to open paths. */
export function layOutWalk(memory: Memory): Walk {
  return { record: memory.variable(), at: memory.variable(), error: memory.variable() }
}

/**
 * Returns instructions that open the path of a record from `/`, one component at a time and without following symlinks. If a name has become a
 * symlink since the step was planned, opening the path fails, so a wrong file is never opened. Missing components are created if the record says so.
 * After that, the program continues with the next instruction. If the path is missing, it continues at the label `gone`, or at `done` if the record
 * says that the step is then skipped. It continues at `changed` if the entry is not the planned one or the path leads through something other than a
 * directory, and at `failed` after other errors.
 */
export function walk(memory: Memory, { record, at, error }: Walk): readonly Instruction[] {
  const root = memory.bytes('/\0')
  const nothing = memory.bytes('\0')
  const status = memory.space(256)
  const statusAddress = memory.variable(status)
  const [next, name, left, cursor, wanted, found, create] = [
    memory.variable(),
    memory.variable(),
    memory.variable(),
    memory.variable(),
    memory.variable(),
    memory.variable(),
    memory.variable(),
  ]
  return [
    { call: 'openat', operands: [AT_FDCWD, root, pathOnly], result: at },
    { set: error, to: at },
    { when: at, negative: true, goto: 'failed' },
    { load: left, from: record, offset: fields.count },
    { load: create, from: record, offset: fields.create },
    { set: cursor, to: record },
    { label: 'component' },
    { when: left, is: 0, goto: 'arrived' },
    { load: name, from: cursor, offset: fields.components },
    { label: 'open' },
    { call: 'openat', operands: [at, name, pathOnly], result: next },
    { when: next, negative: true, goto: 'missing' },
    { call: 'close', operands: [at] },
    { set: at, to: next },
    { add: 8, to: cursor },
    { subtract: 1, from: left },
    { goto: 'component' },

    { label: 'missing' },
    { set: error, to: next },
    { when: next, is: ENOENT, goto: 'make' },
    // The path leads through another user's private directory. Planning may have been done by root, which has more privileges than this program.
    { when: next, is: EACCES, goto: 'failed' },
    // The error is usually ENOTDIR: the entry is a symlink, or isn't a directory.
    { goto: 'changed' },
    { label: 'make' },
    { when: create, is: 0, goto: 'gone' },
    { when: create, is: creations.nothing, goto: 'done' },
    { when: left, is: 1, goto: 'makeLast' },
    { label: 'makeDirectory' },
    { call: 'mkdirat', operands: [at, name, 0o755], result: error },
    { goto: 'made' },
    { label: 'makeLast' },
    { when: create, is: creations.directory, goto: 'makeDirectory' },
    {
      call: 'openat',
      operands: [at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o444],
      result: error,
    },
    { when: error, negative: true, goto: 'made' },
    { call: 'close', operands: [error] },
    { goto: 'open' },
    { label: 'made' },
    // Another command in the run has just created this component in the private directory, which all commands share.
    { when: error, is: EEXIST, goto: 'open' },
    { when: error, negative: true, goto: 'failed' },
    { goto: 'open' },

    { label: 'arrived' },
    { load: wanted, from: record, offset: fields.hasIdentity },
    { when: wanted, is: 0, goto: 'there' },
    { call: 'newfstatat', operands: [at, nothing, status, AT_EMPTY_PATH], result: error, failed: 'failed' },
    // A struct stat begins with the device and the inode.
    { load: wanted, from: record, offset: fields.device },
    { load: found, from: statusAddress, offset: 0 },
    { when: found, is: wanted, goto: 'sameDevice' },
    { goto: 'changed' },
    { label: 'sameDevice' },
    { load: wanted, from: record, offset: fields.inode },
    { load: found, from: statusAddress, offset: 8 },
    { when: found, is: wanted, goto: 'there' },
    { goto: 'changed' },
    { label: 'there' },
  ]
}
