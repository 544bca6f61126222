import type { Instruction, Operand, Processor, ProgramCall } from './machine-instructions.ts'

const numbers: Readonly<Record<ProgramCall, number>> = {
  accept4: 242,
  bind: 200,
  capset: 91,
  chdir: 49,
  clone: 220,
  close: 57,
  close_range: 436,
  connect: 203,
  dup3: 24,
  execve: 221,
  exit: 93,
  fsconfig: 431,
  fsmount: 432,
  fsopen: 430,
  fstatfs: 44,
  getpid: 172,
  ioctl: 29,
  kill: 129,
  listen: 201,
  mkdirat: 34,
  mount_setattr: 442,
  move_mount: 429,
  newfstatat: 79,
  open_tree: 428,
  openat: 56,
  ppoll: 73,
  prctl: 167,
  read: 63,
  recvmsg: 212,
  rt_sigaction: 134,
  rt_sigprocmask: 135,
  seccomp: 277,
  sendmsg: 211,
  setsid: 157,
  setsockopt: 208,
  signalfd4: 74,
  socket: 198,
  statx: 291,
  unshare: 97,
  wait4: 260,
  write: 64,
}

const svc = 0xd400_0001

/**
 * How AArch64 encodes instructions. Arguments are in x0 to x4, the system call's number is in x8, addresses are in x9, and operands of calculations
 * are in x10 and x11.
 */
export const arm64: Processor = {
  machine: 183,
  calls: numbers,
  encode: (instruction, at, placeOf) => {
    // A branch's offset is counted in instructions from the branch itself, which is the last instruction here.
    const branch = (
      before: readonly number[],
      code: (distance: number) => number,
      label: string,
    ): readonly number[] => [...before, code((placeOf(label) - at) / 4 - before.length)]
    const words = encode(instruction, branch)
    const code = Buffer.alloc(4 * words.length)
    for (const [index, word] of words.entries()) code.writeUInt32LE(word >>> 0, 4 * index)
    return code
  },
}

function encode(
  instruction: Instruction,
  branch: (before: readonly number[], code: (distance: number) => number, label: string) => readonly number[],
): readonly number[] {
  if ('call' in instruction) {
    const { call, operands, result, failed } = instruction
    const before = [
      ...operands.flatMap((operand, index) => load(index, operand)),
      ...load(8, numbers[call]),
      svc,
      ...(result === undefined ? [] : save(0, result.address)),
    ]
    return failed === undefined ? before : branch(before, (distance) => branchIfNegative(0, distance), failed)
  }
  if ('set' in instruction) return [...load(10, instruction.to), ...save(10, instruction.set.address)]
  if ('add' in instruction) {
    const { add, to } = instruction
    return [...load(10, to), ...load(11, add), 0x8b0b_014a /* add x10, x10, x11 */, ...save(10, to.address)]
  }
  if ('subtract' in instruction) {
    const { subtract, from } = instruction
    return [...load(10, from), ...load(11, subtract), 0xcb0b_014a /* sub x10, x10, x11 */, ...save(10, from.address)]
  }
  if ('load' in instruction) {
    const { load: to, from, offset } = instruction
    const follow = 0xf940_014a + (offset / 8) * 0x400 // ldr x10, [x10, offset]
    return [...load(10, from), follow, ...save(10, to.address)]
  }
  if ('store' in instruction) {
    const { store: value, to, offset } = instruction
    const put = 0xf900_016a + (offset / 8) * 0x400 // str x10, [x11, offset]
    return [...load(10, value), ...load(11, to), put]
  }
  // mov x10, sp
  if ('takeStack' in instruction) return [0x9100_03ea, ...save(10, instruction.takeStack.address)]
  if ('is' in instruction) {
    const before = [...load(10, instruction.when), ...load(11, instruction.is), 0xeb0b_015f /* cmp x10, x11 */]
    return branch(before, (distance) => 0x5400_0000 + field(distance, 19, 5), instruction.goto) // b.eq
  }
  if ('hasAnyOf' in instruction) {
    const before = [...load(10, instruction.when), ...load(11, instruction.hasAnyOf), 0xea0b_015f /* tst x10, x11 */]
    return branch(before, (distance) => 0x5400_0001 + field(distance, 19, 5), instruction.goto) // b.ne
  }
  if ('negative' in instruction) {
    return branch(load(10, instruction.when), (distance) => branchIfNegative(10, distance), instruction.goto)
  }
  if ('goto' in instruction) return branch([], (distance) => 0x1400_0000 + field(distance, 26, 0), instruction.goto)
  return []
}

/** Encodes `tbnz x<register>, 63`, which branches if the number in the register is negative. */
function branchIfNegative(register: number, distance: number): number {
  return 0xb7f8_0000 + field(distance, 14, 5) + register
}

/** Encodes a signed number as a bit field of an instruction. The field is given by its width and its position. */
function field(value: number, bits: number, place: number): number {
  return Number(BigInt.asUintN(bits, BigInt(value))) * 2 ** place
}

function load(register: number, operand: Operand): readonly number[] {
  if (typeof operand === 'object') return [...move(9, operand.address), 0xf940_0120 + register] // ldr x<register>, [x9]
  return move(register, operand)
}

function save(register: number, address: number): readonly number[] {
  return [...move(9, address), 0xf900_0120 + register] // str x<register>, [x9]
}

/** Sets a register with `movz` for its lowest 16 bits, and `movk` for each of the other three parts. */
function move(register: number, value: number | bigint): readonly number[] {
  const bits = BigInt.asUintN(64, BigInt(value))
  return [0, 1, 2, 3].map((quarter) => {
    const part = Number((bits >> BigInt(16 * quarter)) & 0xffffn)
    return (quarter === 0 ? 0xd280_0000 : 0xf280_0000) + quarter * 0x20_0000 + part * 32 + register
  })
}
