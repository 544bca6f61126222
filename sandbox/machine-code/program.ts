import { arm64 } from './arm64.ts'
import type { Architecture, Instruction, Processor, Variable } from './instructions.ts'
import { x64 } from './x64.ts'

/** The memory of a program that is being written. Everything in it has its address at once. */
export type Memory = {
  /** A number, with its value at the start. */
  variable(value?: number | bigint): Variable
  /** Bytes as they are at the start; their address. */
  bytes(content: Uint8Array | string): number
  /** So many zero bytes; their address. */
  space(size: number): number
}

const processors: Readonly<Record<Architecture, Processor>> = { x64, arm64 }

/**
 * A whole Linux program (ELF), statically linked and of few hundred bytes: for what has to be done by a process in a place where nothing can be
 * expected to be installed, and starting a Node would cost more than everything else.
 */
export function makeProgram(architecture: Architecture, write: (memory: Memory) => readonly Instruction[]): Uint8Array {
  const processor = processors[architecture]
  const memory = createMemory(dataBase + headersSize)
  const instructions = write(memory)
  const data = memory.content()
  const code = encode(processor, instructions)
  const codeStart = headersSize + data.length
  return Buffer.concat([
    elfHeader(processor.machine, codeBase + codeStart),
    segment(writable, headersSize, dataBase + headersSize, data.length),
    segment(executable, codeStart, codeBase + codeStart, code.length),
    data,
    code,
  ])
}

/** Numbers of 64 bits as a program's memory holds them. */
export function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) buffer.writeBigUInt64LE(BigInt(value), 8 * index)
  return buffer
}

function encode(processor: Processor, instructions: readonly Instruction[]): Uint8Array {
  const places = new Map<string, number>()
  let at = 0
  for (const instruction of instructions) {
    if ('label' in instruction) places.set(instruction.label, at)
    at += processor.encode(instruction, 0, () => 0).length
  }
  const placeOf = (label: string): number => {
    const place = places.get(label)
    if (place === undefined) throw new RangeError(`no label ${label}`)
    return place
  }
  at = 0
  return Buffer.concat(
    instructions.map((instruction) => {
      const code = processor.encode(instruction, at, placeOf)
      at += code.length
      return code
    }),
  )
}

function createMemory(start: number): Memory & { readonly content: () => Uint8Array } {
  const parts: Uint8Array[] = []
  let end = start
  const put = (content: Uint8Array): number => {
    const address = end
    // Everything begins at a multiple of eight, which structures of the kernel expect.
    const padding = (8 - (content.length % 8)) % 8
    parts.push(content, Buffer.alloc(padding))
    end += content.length + padding
    return address
  }
  return {
    variable: (value = 0) => {
      const content = Buffer.alloc(8)
      content.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)))
      return { address: put(content) }
    },
    bytes: (content) => put(Buffer.from(content)),
    space: (size) => put(Buffer.alloc(size)),
    content: () => Buffer.concat(parts),
  }
}

// elf(5). Data and code are two segments, so that no memory is both writable and executable.
const dataBase = 0x40_0000
const codeBase = 0x60_0000
const headersSize = 64 + 2 * 56
const executable = 5
const writable = 6

function elfHeader(machine: number, entry: number): Uint8Array {
  const header = Buffer.alloc(64)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeUInt32LE(entry, 24)
  header.writeUInt32LE(64, 32)
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(2, 56)
  return header
}

/** A loaded part of the file. Its address and its place in the file agree modulo any page size. */
function segment(flags: number, offset: number, address: number, size: number): Uint8Array {
  const header = words(0, offset, address, address, size, size, 0x1_0000)
  header.writeUInt32LE(1, 0)
  header.writeUInt32LE(flags, 4)
  return header
}
