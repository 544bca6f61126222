/**
 * A Linux program (ELF) of a few hundred bytes, made here as the system call filter is: it opens the listening socket that commands find as
 * their proxy, hands it to the engine, and ends. Only a process inside a network namespace can make a socket there, and starting
 * a Node inside for it would cost each command more than the rest of its sandbox.
 *
 *     fd = socket(AF_INET, SOCK_STREAM, 0); bind(fd, 127.0.0.1:port); listen(fd, backlog); sendmsg(channel, message + fd, 0)
 *
 * The message is the one with which Node's own `process.send(message, server)` hands over a server, so that a `ChildProcess` with
 * an `ipc` channel emits it as `message`. The program exits with 0, or with the error number of the call that failed.
 */
export function listenerProgram(
  architecture: 'x64' | 'arm64',
  { port, channel }: { readonly port: number; readonly channel: number },
): Uint8Array {
  const { machine, numbers, call } = processors[architecture]
  const code = (at: Places): Uint8Array =>
    Buffer.concat([
      call(numbers.socket, [AF_INET, SOCK_STREAM, 0], { storeAt: at.descriptor }),
      call(numbers.bind, [{ loadFrom: at.descriptor }, at.address, 16]),
      call(numbers.listen, [{ loadFrom: at.descriptor }, backlog]),
      call(numbers.sendmsg, [channel, at.header, 0]),
      call(numbers.exit, [0]),
    ])
  // Instructions have one size whatever the addresses in them, so a first round tells where the data begins.
  const start = headersSize + code(layOut(0)).length
  const places = layOut(dataBase + start)
  const text = Buffer.concat([elfHeader(machine), segment(executable, 0, codeBase, start)])
  const data = dataOf(places, port)
  return Buffer.concat([text, segment(writable, start, dataBase + start, data.length), code(places), data])
}

const AF_INET = 2
const SOCK_STREAM = 1
const SOL_SOCKET = 1
const SCM_RIGHTS = 1
/** What the kernel lets wait; it lowers it to its own limit. */
const backlog = 511

const message = Buffer.from(`${JSON.stringify({ cmd: 'NODE_HANDLE', type: 'net.Server', msg: { listening: true } })}\n`)

/** Addresses of the parts of the data. */
type Places = ReturnType<typeof layOut>

function layOut(start: number) {
  const iovec = start
  const control = iovec + 16
  const header = control + 24
  const address = header + 56
  return { iovec, control, descriptor: control + 16, header, address, message: address + 16 }
}

/** `struct iovec`, `struct cmsghdr` with one descriptor, `struct msghdr`, `struct sockaddr_in`, and the message. */
function dataOf(at: Places, port: number): Uint8Array {
  return Buffer.concat([
    words(at.message, message.length),
    words(20, SOL_SOCKET + SCM_RIGHTS * 2 ** 32, 0),
    words(0, 0, at.iovec, 1, at.control, 24, 0),
    Buffer.from([AF_INET, 0, port >> 8, port & 0xff, 127, 0, 0, 1, ...Array.from({ length: 8 }, () => 0)]),
    message,
  ])
}

// elf(5). Code and data are two segments, so that no memory is both writable and executable.
const codeBase = 0x40_0000
const dataBase = 0x60_0000
const headersSize = 64 + 2 * 56
const executable = 5
const writable = 6

function elfHeader(machine: number): Uint8Array {
  const header = Buffer.alloc(64)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeUInt32LE(codeBase + headersSize, 24)
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

type Operand = number | { readonly loadFrom: number }

type Processor = {
  readonly machine: number
  readonly numbers: Readonly<Record<'socket' | 'bind' | 'listen' | 'sendmsg' | 'exit', number>>
  /** A system call; where it fails, the end of the program with its error number. */
  readonly call: (number: number, operands: readonly Operand[], result?: { readonly storeAt: number }) => Uint8Array
}

const processors: Readonly<Record<'x64' | 'arm64', Processor>> = {
  x64: {
    machine: 62,
    numbers: { socket: 41, bind: 49, listen: 50, sendmsg: 46, exit: 60 },
    call: (number, operands, result) =>
      Buffer.concat([
        ...operands.map(
          (operand, index) =>
            typeof operand === 'number'
              ? bytes([[0xbf, 0xbe, 0xba][index] ?? 0], operand) // mov edi|esi|edx, imm32
              : bytes([0x8b, [0x3c, 0x34, 0x14][index] ?? 0, 0x25], operand.loadFrom), // mov edi|esi|edx, [address]
        ),
        bytes([0xb8], number), // mov eax, imm32
        bytes([0x0f, 0x05]), // syscall
        bytes([0x85, 0xc0]), // test eax, eax
        bytes([0x79, 0x0b]), // jns over the next four
        bytes([0xf7, 0xd8]), // neg eax
        bytes([0x89, 0xc7]), // mov edi, eax
        bytes([0xb8], 60), // mov eax, exit
        bytes([0x0f, 0x05]), // syscall
        ...(result === undefined ? [] : [bytes([0x89, 0x04, 0x25], result.storeAt)]), // mov [address], eax
      ]),
  },
  arm64: {
    machine: 183,
    numbers: { socket: 198, bind: 200, listen: 201, sendmsg: 211, exit: 93 },
    call: (number, operands, result) =>
      instructions([
        ...operands.flatMap(
          (operand, index) =>
            typeof operand === 'number'
              ? moveWide(index, operand)
              : [...moveWide(9, operand.loadFrom), 0xb940_0120 + index], // ldr w<index>, [x9]
        ),
        ...moveWide(8, number),
        0xd400_0001, // svc 0
        0x36f8_00a0, // tbz w0, 31, over the next four
        0x4b00_03e0, // neg w0, w0
        ...moveWide(8, 93),
        0xd400_0001, // svc 0
        ...(result === undefined ? [] : [...moveWide(9, result.storeAt), 0xb900_0120]), // str w0, [x9]
      ]),
  },
}

/** movz and movk: a register's low 32 bits, the rest zero. */
function moveWide(register: number, value: number): readonly number[] {
  return [0xd280_0000 + (value & 0xffff) * 32 + register, 0xf2a0_0000 + (value >>> 16) * 32 + register]
}

function instructions(list: readonly number[]): Uint8Array {
  const code = Buffer.alloc(4 * list.length)
  for (const [index, instruction] of list.entries()) code.writeUInt32LE(instruction, 4 * index)
  return code
}

/** An operation code, and its 32-bit operand if it has one. */
function bytes(code: readonly number[], operand?: number): Uint8Array {
  const tail = Buffer.alloc(operand === undefined ? 0 : 4)
  if (operand !== undefined) tail.writeUInt32LE(operand)
  return Buffer.concat([Buffer.from(code), tail])
}

/** Numbers of 64 bits. */
function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) buffer.writeBigUInt64LE(BigInt(value), 8 * index)
  return buffer
}
