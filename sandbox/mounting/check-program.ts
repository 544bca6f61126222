import type { Architecture } from '../machine-code/machine-instructions.ts'
import { makeProgram } from '../machine-code/make-program.ts'
import { become } from '../network/entry-program.ts'
import { fields, kinds, layOutSteps, type Step } from './step-layout.ts'
import { layOutWalk, walk } from './walk-program.ts'
import { AT_EMPTY_PATH } from '../machine-code/kernel.ts'

const STATX_ATTR_MOUNT_ROOT = 0x2000
const ST_RDONLY = 1
/** The offsets of the attributes in struct statx, and of the flags in struct statfs. */
const [attributesAt, flagsAt] = [8, 80]
const cannotRun = 125

/**
 * A program that carries out `steps`, which must all be `expect` steps. It then replaces itself with the program that its first argument names, and
 * passes its arguments on to that program. If a check fails, it prints `complaint` and the path to standard error, and exits with code 125.
 */
export function checkProgram(architecture: Architecture, steps: readonly Step[], complaint: string): Uint8Array {
  return makeProgram(architecture, (memory) => {
    const state = layOutWalk(memory)
    const { record, at, error } = state
    const [kind, buffer, found, size, text, length] = [
      memory.variable(),
      memory.variable(memory.space(256)),
      memory.variable(),
      memory.variable(),
      memory.variable(),
      memory.variable(),
    ]
    const nothing = memory.bytes('\0')
    return [
      { set: record, to: layOutSteps(memory, steps) },
      { label: 'step' },
      { load: kind, from: record, offset: fields.kind },
      { when: kind, is: kinds.end, goto: 'checked' },
      ...walk(memory, state),
      { call: 'statx', operands: [at, nothing, AT_EMPTY_PATH, 0, buffer], result: error, failed: 'failed' },
      { load: found, from: buffer, offset: attributesAt },
      { when: found, hasAnyOf: STATX_ATTR_MOUNT_ROOT, goto: 'mounted' },
      { goto: 'changed' },
      { label: 'mounted' },
      { call: 'fstatfs', operands: [at, buffer], result: error, failed: 'failed' },
      { load: found, from: buffer, offset: flagsAt },
      { when: found, hasAnyOf: ST_RDONLY, goto: 'isReadOnly' },
      { when: kind, is: kinds.writable, goto: 'done' },
      { goto: 'changed' },
      { label: 'isReadOnly' },
      { when: kind, is: kinds.readOnly, goto: 'done' },
      { goto: 'changed' },
      { label: 'done' },
      { call: 'close', operands: [at] },
      { load: size, from: record, offset: fields.size },
      { add: size, to: record },
      { goto: 'step' },
      { label: 'checked' },
      ...become(memory, 1),
      { label: 'gone' },
      { label: 'changed' },
      { label: 'failed' },
      { load: text, from: record, offset: fields.text },
      { load: length, from: record, offset: fields.textLength },
      { call: 'write', operands: [2, memory.bytes(complaint), complaint.length] },
      { call: 'write', operands: [2, text, length] },
      { call: 'write', operands: [2, memory.bytes('\n'), 1] },
      { call: 'exit', operands: [cannotRun] },
    ]
  })
}
