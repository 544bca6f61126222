/** The processors that programs are made for. */
export type Architecture = 'x64' | 'arm64'

/** A place in a program's memory that holds a number of 64 bits. */
export type Variable = { readonly address: number }

/** A number as it is, or what a variable holds when the instruction runs. */
export type Operand = number | bigint | Variable

/** The system calls that our programs make; what they are called by differs between processors. */
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

/** A step of a program, the same for every processor. Labels are names that a `label` step gives to its place. */
export type Instruction =
  /** A system call. `result` takes what it returned; one that failed, which returns its error number below zero, goes on at `failed`. */
  | {
      readonly call: ProgramCall
      readonly operands: readonly Operand[]
      readonly result?: Variable
      readonly failed?: string
    }
  | { readonly set: Variable; readonly to: Operand }
  | { readonly add: Operand; readonly to: Variable }
  | { readonly subtract: Operand; readonly from: Variable }
  /** Takes the 64 bits at the address that `from` holds. `offset` is a multiple of 8 below 32768. */
  | { readonly load: Variable; readonly from: Variable; readonly offset: number }
  /** Puts a number at the address that `to` holds. `offset` as above. */
  | { readonly store: Operand; readonly to: Variable; readonly offset: number }
  /** At the start of a program: where the kernel has put the number of arguments, and then the arguments. */
  | { readonly takeStack: Variable }
  | { readonly when: Variable; readonly is: Operand; readonly goto: string }
  | { readonly when: Variable; readonly hasAnyOf: bigint | number; readonly goto: string }
  | { readonly when: Variable; readonly negative: true; readonly goto: string }
  | { readonly goto: string }
  | { readonly label: string }

/** How one processor writes instructions. */
export type Processor = {
  /** Its number in elf(5). */
  readonly machine: number
  /** The numbers of system calls. */
  readonly calls: Readonly<Record<ProgramCall, number>>
  /**
   * The bytes of an instruction that stands `at` bytes after the start of the code. They are as many whatever the labels' places, so
   * that these can be found with any answer.
   */
  readonly encode: (instruction: Instruction, at: number, placeOf: (label: string) => number) => ArrayLike<number>
}
