/** The processors that we can make programs for. */
export type Architecture = 'x64' | 'arm64'

/** An address in a program's memory that holds a 64-bit number. */
export type Variable = { readonly address: number }

/** A constant, or the value of a variable when the instruction runs. */
export type Operand = number | bigint | Variable

/** The system calls that our programs make. Their numbers depend on the processor architecture. */
export type ProgramCall =
  | 'accept4'
  | 'bind'
  | 'capset'
  | 'chdir'
  | 'clone'
  | 'close'
  | 'close_range'
  | 'connect'
  | 'dup3'
  | 'execve'
  | 'exit'
  | 'fsconfig'
  | 'fsmount'
  | 'fsopen'
  | 'fstatfs'
  | 'getpid'
  | 'ioctl'
  | 'kill'
  | 'listen'
  | 'mkdirat'
  | 'mount_setattr'
  | 'move_mount'
  | 'newfstatat'
  | 'open_tree'
  | 'openat'
  | 'ppoll'
  | 'prctl'
  | 'read'
  | 'recvmsg'
  | 'rt_sigaction'
  | 'rt_sigprocmask'
  | 'seccomp'
  | 'sendmsg'
  | 'setsid'
  | 'setsockopt'
  | 'signalfd4'
  | 'socket'
  | 'statx'
  | 'unshare'
  | 'wait4'
  | 'write'

/** An instruction of a program, independent of the processor. A `label` instruction gives a name to its position. */
export type Instruction =
  /**
   * A system call. Its return value is stored in `result`; if the call fails, this is the negative error number. After a failure, the program jumps
   * to `failed` if that is given.
   */
  | {
      readonly call: ProgramCall
      readonly operands: readonly Operand[]
      readonly result?: Variable
      readonly failed?: string
    }
  | { readonly set: Variable; readonly to: Operand }
  | { readonly add: Operand; readonly to: Variable }
  | { readonly subtract: Operand; readonly from: Variable }
  /** Loads the 64 bits that are `offset` bytes after the address in `from`. `offset` is a multiple of 8 below 32768. */
  | { readonly load: Variable; readonly from: Variable; readonly offset: number }
  /** Stores a number `offset` bytes after the address in `to`. `offset` is a multiple of 8 below 32768. */
  | { readonly store: Operand; readonly to: Variable; readonly offset: number }
  /**
   * Sets the variable to the stack's address. This is for the start of a program, when the stack begins with the number of arguments, followed by the
   * addresses of the arguments.
   */
  | { readonly takeStack: Variable }
  | { readonly when: Variable; readonly is: Operand; readonly goto: string }
  | { readonly when: Variable; readonly hasAnyOf: bigint | number; readonly goto: string }
  | { readonly when: Variable; readonly negative: true; readonly goto: string }
  | { readonly goto: string }
  | { readonly label: string }

/** A processor architecture: its system calls, and its encoding of instructions. */
export type Processor = {
  /** The processor's number in elf(5). */
  readonly machine: number
  /** The numbers that this processor uses for system calls. */
  readonly calls: Readonly<Record<ProgramCall, number>>
  /**
   * Encodes an instruction at offset `at` of the code. The number of bytes doesn't depend on the positions of labels. So a first pass can use
   * arbitrary positions to find the real ones.
   */
  readonly encode: (instruction: Instruction, at: number, placeOf: (label: string) => number) => ArrayLike<number>
}
