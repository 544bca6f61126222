import { encodeText } from '../path-bytes.ts'
import { arm64 } from './arm64.ts'
import type { Architecture, Instruction, Processor, Variable } from './machine-instructions.ts'
import { x64 } from './x64.ts'

/** The memory of a program under construction. Each item gets its address as soon as it is added. */
export type Memory = {
  /** Adds a variable for a number. Its initial value is `value`, or 0. */
  variable(value?: number | bigint): Variable
  /** Adds these bytes, and returns their address. */
  bytes(content: Uint8Array | string): number
  /** Adds `size` zero bytes, and returns their address. */
  space(size: number): number
}

const processors: Readonly<Record<Architecture, Processor>> = { x64, arm64 }

/**
 * Makes a complete, statically linked Linux program (ELF) of a few hundred bytes. Such programs do small tasks in a sandbox or container, which can't
 * be relied on to have any other program or library, and where starting Node would take longer than the task itself.
 */
export function makeProgram(architecture: Architecture, write: (memory: Memory) => readonly Instruction[]): Uint8Array {
  const processor = processors[architecture]
  const start = headersSize(2)
  const memory = createMemory(dataBase + start)
  const instructions = write(memory)
  const data = memory.content()
  const code = encode(processor, instructions)
  const codeStart = start + data.length
  return Buffer.concat([
    elfHeader(processor.machine, codeBase + codeStart, 2),
    segment(writable, start, dataBase + start, data.length),
    segment(executable, codeStart, codeBase + codeStart, code.length),
    data,
    code,
  ])
}

/** A program that is complete except for the data at its end, which is different each time the program is used. */
export type ProgramForm = {
  /** Everything except the appended data. */
  readonly fixed: Uint8Array
  /** The address at which the appended data will begin. */
  readonly address: number
  readonly finish: (...appended: readonly Uint8Array[]) => Uint8Array
}

/**
 * Like `makeProgram`, but for a program that is needed often, each time with different data. The instructions are encoded only once, because that
 * takes far longer than appending the data.
 *
 * @param write gets a variable that holds the address of the appended data
 */
export function makeForm(
  architecture: Architecture,
  write: (memory: Memory, appended: Variable) => readonly Instruction[],
): ProgramForm {
  const processor = processors[architecture]
  const start = headersSize(3)
  const memory = createMemory(dataBase + start)
  const appended = memory.variable()
  const instructions = write(memory, appended)
  const data = memory.content()
  const code = encode(processor, instructions)
  const codeStart = start + data.length
  const end = Math.ceil((codeStart + code.length) / 8) * 8
  data.set(words(appendedBase + end), appended.address - (dataBase + start))
  return formOf(
    Buffer.concat([
      elfHeader(processor.machine, codeBase + codeStart, 3),
      segment(writable, start, dataBase + start, data.length),
      segment(executable, codeStart, codeBase + codeStart, code.length),
      segment(writable, end, appendedBase + end, 0),
      data,
      code,
      Buffer.alloc(end - codeStart - code.length),
    ]),
  )
}

/** Restores a program form from its `fixed` part, which `makeForm` created. */
export function formOf(fixed: Uint8Array): ProgramForm {
  const address = appendedBase + fixed.length
  return {
    fixed,
    address,
    finish: (...appended) => {
      const filled = Buffer.concat([fixed, ...appended])
      filled.set(segment(writable, fixed.length, address, filled.length - fixed.length), headersSize(2))
      return filled
    },
  }
}

/** Lays out memory that will be appended to a program. Returns the bytes that `write` added, and the result of `write`. */
export function layOut<Answer>(
  address: number,
  write: (memory: Memory) => Answer,
): { readonly content: Uint8Array; readonly answer: Answer } {
  const memory = createMemory(address)
  const answer = write(memory)
  return { content: memory.content(), answer }
}

/** Encodes numbers as 64-bit words, in the form that a program's memory uses. */
export function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(8 * values.length)
  // A DataView is used because a Buffer's own methods check their arguments, and these checks would take longer than everything else here.
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  for (const [index, value] of values.entries()) {
    view.setInt32(8 * index, value | 0, true)
    view.setInt32(8 * index + 4, Math.floor(value / 2 ** 32) | 0, true)
  }
  return buffer
}

function encode(processor: Processor, instructions: readonly Instruction[]): Uint8Array {
  const places = new Map<string, number>()
  let at = 0
  const drafts = instructions.map((instruction) => {
    if ('label' in instruction) places.set(instruction.label, at)
    let jumps = false
    const code = processor.encode(instruction, at, () => ((jumps = true), 0))
    const draft = { instruction, code, at, jumps }
    at += code.length
    return draft
  })
  const placeOf = (label: string): number => {
    const place = places.get(label)
    if (place === undefined) throw new RangeError(`no label ${label}`)
    return place
  }
  const bytes = new Uint8Array(at)
  for (const draft of drafts) {
    bytes.set(draft.jumps ? processor.encode(draft.instruction, draft.at, placeOf) : draft.code, draft.at)
  }
  return bytes
}

function createMemory(start: number): Memory & { readonly content: () => Uint8Array } {
  const parts: { readonly at: number; readonly content: Uint8Array }[] = []
  let end = start
  const put = (content: Uint8Array): number => {
    const address = end
    parts.push({ at: address - start, content })
    // Everything is aligned to eight bytes, as the kernel's structures require.
    end += Math.ceil(content.length / 8) * 8
    return address
  }
  return {
    variable: (value = 0) => {
      if (typeof value === 'number') return { address: put(words(value)) }
      const content = Buffer.alloc(8)
      content.writeBigUInt64LE(BigInt.asUintN(64, value))
      return { address: put(content) }
    },
    bytes: (content) => put(typeof content === 'string' ? encodeText(content) : content),
    space: (size) => put(new Uint8Array(size)),
    content: () => {
      const whole = new Uint8Array(end - start)
      for (const { at, content } of parts) whole.set(content, at)
      return whole
    },
  }
}

// See elf(5). Data and code are in separate segments, so that no memory is both writable and executable.
const dataBase = 0x40_0000
const codeBase = 0x60_0000
const appendedBase = 0x80_0000
const headersSize = (segments: number): number => 64 + segments * 56
const executable = 5
const writable = 6

function elfHeader(machine: number, entry: number, segments: number): Uint8Array {
  const header = Buffer.alloc(64)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeUInt32LE(entry, 24)
  header.writeUInt32LE(64, 32)
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(segments, 56)
  return header
}

/** The program header of a loaded segment. The segment's address and its file offset are equal modulo any page size. */
function segment(flags: number, offset: number, address: number, size: number): Uint8Array {
  const header = words(0, offset, address, address, size, size, 0x1_0000)
  header.writeUInt32LE(1, 0)
  header.writeUInt32LE(flags, 4)
  return header
}
