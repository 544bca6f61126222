import type { Instruction, Operand, Processor, ProgramCall } from './machine-instructions.ts'

const numbers: Readonly<Record<ProgramCall, number>> = {
  accept4: 288,
  bind: 49,
  capset: 126,
  chdir: 80,
  clone: 56,
  close: 3,
  close_range: 436,
  connect: 42,
  dup3: 292,
  execve: 59,
  exit: 60,
  fsconfig: 431,
  fsmount: 432,
  fsopen: 430,
  fstatfs: 138,
  getpid: 39,
  ioctl: 16,
  kill: 62,
  listen: 50,
  mkdirat: 258,
  mount_setattr: 442,
  move_mount: 429,
  newfstatat: 262,
  open_tree: 428,
  openat: 257,
  ppoll: 271,
  prctl: 157,
  read: 0,
  recvmsg: 47,
  rt_sigaction: 13,
  rt_sigprocmask: 14,
  seccomp: 317,
  sendmsg: 46,
  setsid: 112,
  setsockopt: 54,
  signalfd4: 289,
  socket: 41,
  statx: 332,
  unshare: 272,
  wait4: 61,
  write: 1,
}

type Register = { readonly immediate: readonly number[]; readonly memory: readonly number[] }

/** The first bytes of `mov register, imm64` and of `mov register, [disp32]`. */
const rax: Register = { immediate: [0x48, 0xb8], memory: [0x48, 0x8b, 0x04, 0x25] }
const rcx: Register = { immediate: [0x48, 0xb9], memory: [0x48, 0x8b, 0x0c, 0x25] }
const argumentRegisters: readonly Register[] = [
  { immediate: [0x48, 0xbf], memory: [0x48, 0x8b, 0x3c, 0x25] }, // rdi
  { immediate: [0x48, 0xbe], memory: [0x48, 0x8b, 0x34, 0x25] }, // rsi
  { immediate: [0x48, 0xba], memory: [0x48, 0x8b, 0x14, 0x25] }, // rdx
  { immediate: [0x49, 0xba], memory: [0x4c, 0x8b, 0x14, 0x25] }, // r10
  { immediate: [0x49, 0xb8], memory: [0x4c, 0x8b, 0x04, 0x25] }, // r8
]

const saveRax = [0x48, 0x89, 0x04, 0x25] // mov [disp32], rax
const testRax = [0x48, 0x85, 0xc0] // test rax, rax
const jumpIf = { equal: [0x0f, 0x84], different: [0x0f, 0x85], negative: [0x0f, 0x88] } as const

/**
 * Bytes of code. They are plain arrays because a program of several hundred instructions is encoded for each command, and creating small buffers
 * takes longer than filling them.
 */
type Code = readonly number[]

/** How x86-64 encodes instructions. Apart from a call's arguments, numbers pass through rax and rcx. Every variable has a 32-bit address. */
export const x64: Processor = {
  machine: 62,
  calls: numbers,
  encode: (instruction, at, placeOf) => {
    // A jump's offset is counted from the end of the jump, which is the last instruction here.
    const jump = (before: Code, code: Code, label: string): Code => {
      const end = at + before.length + code.length + 4
      return [...before, ...with32(code, placeOf(label) - end)]
    }
    return encode(instruction, jump)
  },
}

function encode(instruction: Instruction, jump: (before: Code, code: Code, label: string) => Code): Code {
  if ('call' in instruction) {
    const { call, operands, result, failed } = instruction
    const before = [
      ...operands.flatMap((operand, index) => load(argumentRegisters[index] ?? unknownRegister(), operand)),
      ...load(rax, numbers[call]),
      ...[0x0f, 0x05], // syscall
      ...(result === undefined ? [] : with32(saveRax, result.address)),
      ...(failed === undefined ? [] : testRax),
    ]
    return failed === undefined ? before : jump(before, jumpIf.negative, failed)
  }
  if ('set' in instruction) return [...load(rax, instruction.to), ...with32(saveRax, instruction.set.address)]
  if ('add' in instruction) {
    return [...load(rax, instruction.add), ...with32([0x48, 0x01, 0x04, 0x25], instruction.to.address)]
  }
  if ('subtract' in instruction) {
    return [...load(rax, instruction.subtract), ...with32([0x48, 0x29, 0x04, 0x25], instruction.from.address)]
  }
  if ('load' in instruction) {
    const { load: to, from, offset } = instruction
    // mov rax, [rax + disp32]
    return [...load(rax, from), ...with32([0x48, 0x8b, 0x80], offset), ...with32(saveRax, to.address)]
  }
  if ('store' in instruction) {
    // mov [rcx + disp32], rax
    const { store: value, to, offset } = instruction
    return [...load(rax, value), ...load(rcx, to), ...with32([0x48, 0x89, 0x81], offset)]
  }
  // mov [disp32], rsp
  if ('takeStack' in instruction) return with32([0x48, 0x89, 0x24, 0x25], instruction.takeStack.address)
  if ('is' in instruction) {
    const compare = [0x48, 0x39, 0xc8] // cmp rax, rcx
    const before = [...load(rax, instruction.when), ...load(rcx, instruction.is), ...compare]
    return jump(before, jumpIf.equal, instruction.goto)
  }
  if ('hasAnyOf' in instruction) {
    const test = [0x48, 0x85, 0xc8] // test rax, rcx
    const before = [...load(rax, instruction.when), ...load(rcx, instruction.hasAnyOf), ...test]
    return jump(before, jumpIf.different, instruction.goto)
  }
  if ('negative' in instruction) {
    return jump([...load(rax, instruction.when), ...testRax], jumpIf.negative, instruction.goto)
  }
  if ('goto' in instruction) return jump([], [0xe9], instruction.goto)
  return []
}

function load(register: Register, operand: Operand): Code {
  if (typeof operand === 'object') return with32(register.memory, operand.address)
  if (typeof operand === 'number') {
    return [...register.immediate, ...bytesOf(operand), ...bytesOf(Math.floor(operand / 2 ** 32))]
  }
  const low = Number(BigInt.asUintN(32, operand))
  return [...register.immediate, ...bytesOf(low), ...bytesOf(Number(BigInt.asUintN(32, operand >> 32n)))]
}

/** Returns the bytes of an opcode, followed by those of a 32-bit number. */
function with32(code: Code, value: number): Code {
  return [...code, ...bytesOf(value)]
}

/** Returns the four bytes of a number's low 32 bits, lowest byte first. */
function bytesOf(value: number): Code {
  return [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, (value >> 24) & 0xff]
}

function unknownRegister(): never {
  throw new RangeError('a system call has at most five operands here')
}
