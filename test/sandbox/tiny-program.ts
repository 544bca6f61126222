/** An argument of a system call: a number, or bytes that are part of the program and are passed by their address. */
export type Argument = number | bigint | Uint8Array

type Processor = {
  readonly machine: number
  readonly assemble: (number: bigint, args: readonly bigint[]) => Uint8Array
}

const base = 0x40_0000n
const headers = 64 + 56

/**
 * A whole Linux program (ELF) that makes one system call and exits with its error number, 0 for success. Tests use it for calls for which no shell
 * command exists. It needs no compiler.
 */
export function callingProgram(architecture: 'x64' | 'arm64', number: number, args: readonly Argument[]): Uint8Array {
  const { machine, assemble } = processors[architecture]
  const size = assemble(0n, [0n, 0n, 0n, 0n, 0n, 0n]).length
  const data: Uint8Array[] = []
  let end = headers + size
  const values = Array.from({ length: 6 }, (_, index) => {
    const argument = args[index] ?? 0
    if (!(argument instanceof Uint8Array)) return BigInt.asUintN(64, BigInt(argument))
    const address = base + BigInt(end)
    data.push(argument)
    end += argument.length
    return address
  })
  const code = assemble(BigInt(number), values)
  return Buffer.concat([elfHeader(machine), programHeader(end), code, ...data])
}

function elfHeader(machine: number): Uint8Array {
  const header = Buffer.alloc(64)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(base + BigInt(headers), 24)
  header.writeBigUInt64LE(64n, 32)
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(1, 56)
  return header
}

/** The program header of a single segment for everything: readable, writable and executable. */
function programHeader(size: number): Uint8Array {
  const header = Buffer.alloc(56)
  header.writeUInt32LE(1, 0)
  header.writeUInt32LE(7, 4)
  header.writeBigUInt64LE(base, 16)
  header.writeBigUInt64LE(base, 24)
  header.writeBigUInt64LE(BigInt(size), 32)
  header.writeBigUInt64LE(BigInt(size), 40)
  header.writeBigUInt64LE(0x1000n, 48)
  return header
}

const processors: Readonly<Record<'x64' | 'arm64', Processor>> = {
  x64: {
    machine: 62,
    assemble: (number, args) => {
      // mov rax, rdi, rsi, rdx, r10, r8, r9
      const moves = ['48b8', '48bf', '48be', '48ba', '49ba', '49b8', '49b9']
      const exit = [
        '0f05', // syscall
        '31ff', // xor edi, edi
        '4885c0', // test rax, rax
        '7906', // jns: skip the next two instructions
        '4889c7', // mov rdi, rax
        '48f7df', // neg rdi
        'b83c000000', // mov eax, 60: exit
        '0f05', // syscall
      ]
      const loads = [number, ...args].map((value, index) => Buffer.concat([hex(moves[index] ?? ''), quadword(value)]))
      return Buffer.concat([...loads, hex(exit.join(''))])
    },
  },
  arm64: {
    machine: 183,
    assemble: (number, args) => {
      const instructions = [
        ...args.flatMap((value, index) => moveWide(index, value)),
        ...moveWide(8, number),
        0xd400_0001, // svc 0
        0xcb00_03e1, // neg x1, x0
        0xf100_001f, // cmp x0, 0
        0x9a81_a3e0, // csel x0, xzr, x1, ge
        ...moveWide(8, 93n), // exit
        0xd400_0001, // svc 0
      ]
      const code = Buffer.alloc(4 * instructions.length)
      instructions.forEach((instruction, index) => code.writeUInt32LE(instruction >>> 0, 4 * index))
      return code
    },
  },
}

/** The instructions that load a number into a register: movz for its lowest quarter, then movk for the upper three. */
function moveWide(register: number, value: bigint): readonly number[] {
  return [0, 1, 2, 3].map((quarter) => {
    const part = Number((value >> BigInt(16 * quarter)) & 0xffffn)
    return (quarter === 0 ? 0xd280_0000 : 0xf280_0000) + (quarter << 21) + part * 32 + register
  })
}

function hex(text: string): Uint8Array {
  return Buffer.from(text, 'hex')
}

function quadword(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
