import type { ArgumentTest, Rule } from './rules.ts'
import { rulingOf, syscallNumber, syscallsOf, unknownCall, type Architecture, type Ruling } from './syscalls.ts'

/** One instruction of classic BPF (linux/filter.h). A jump's distance is counted from the next instruction. */
type Instruction = { readonly code: number; readonly jt: number; readonly jf: number; readonly k: number }

// Instruction codes, each combined from a class, a size, a mode and an operation (linux/bpf_common.h).
const LOAD_WORD = 0x20
const AND = 0x54
const JUMP = 0x05
const JUMP_EQUAL = 0x15
const JUMP_GREATER_OR_EQUAL = 0x35
const JUMP_ANY_BIT = 0x45
const RETURN = 0x06

// linux/seccomp.h
const KILL_PROCESS = 0x8000_0000
const ERRNO = 0x0005_0000
const ALLOW = 0x7fff_0000
const offsetOfNumber = 0
const offsetOfArchitecture = 4
const offsetOfArguments = 16

/** linux/audit.h */
const auditArchitecture: Readonly<Record<Architecture, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 }

/** The bit that is set in the call numbers of the x32 interface, which exists only on x86-64. */
const x32Bit = 0x4000_0000

/** The largest distance of a conditional jump. */
const farthest = 255

/**
 * Compiles the table of system calls, with `rules` about their arguments, into the program that seccomp(2) loads: an array of `struct sock_filter`,
 * which `bwrap --seccomp` reads. A call through the interface of a different architecture kills the process, because the same number means a different
 * system call there.
 */
export function compileFilter(rules: readonly Rule[], architecture: Architecture): Uint8Array {
  const program: Instruction[] = [
    load(offsetOfArchitecture),
    jump(JUMP_EQUAL, auditArchitecture[architecture], 1, 0),
    give(KILL_PROCESS),
    load(offsetOfNumber),
    ...(architecture === 'x64' ? [jump(JUMP_GREATER_OR_EQUAL, x32Bit, 0, 1), give(verdictOf(unknownCall))] : []),
    ...search(intervals(rules, architecture)),
  ]
  return encode(program)
}

/** Numbers of system calls, from `first` up to the next interval, and the instructions that decide about all of them. */
type Interval = { readonly first: number; readonly decide: readonly Instruction[] }

/** Returns the intervals of numbers about which the same instructions decide. Each call with rules is an interval of its own. */
function intervals(rules: readonly Rule[], architecture: Architecture): readonly Interval[] {
  const found: Interval[] = []
  const add = (first: number, decide: readonly Instruction[]): void => {
    const before = found.at(-1)?.decide
    if (before?.length !== 1 || decide.length !== 1 || before[0]?.k !== decide[0]?.k) found.push({ first, decide })
  }
  let next = 0
  for (const syscall of syscallsOf(architecture)) {
    const number = syscallNumber(syscall, architecture) ?? next
    if (number > next) add(next, [give(verdictOf(unknownCall))])
    const own = rules.filter((rule) => rule.syscall === syscall)
    add(number, [...own.flatMap(compileRule), give(verdictOf(rulingOf(syscall)))])
    next = number + 1
  }
  add(next, [give(verdictOf(unknownCall))])
  return found
}

/** Returns instructions that find the interval of the number in the accumulator by bisection, so that the program takes about eight steps. */
function search(found: readonly Interval[]): readonly Instruction[] {
  const middle = Math.floor(found.length / 2)
  const upper = found[middle]
  if (middle === 0 || upper === undefined) return found[0]?.decide ?? []
  const low = search(found.slice(0, middle))
  const skip =
    low.length <= farthest
      ? [jump(JUMP_GREATER_OR_EQUAL, upper.first, low.length, 0)]
      : [jump(JUMP_GREATER_OR_EQUAL, upper.first, 0, 1), jump(JUMP, low.length, 0, 0)]
  return [...skip, ...low, ...search(found.slice(middle))]
}

/** Compiles a rule for a call whose number is known. If a test fails, the instruction after the rule's runs. */
function compileRule({ when, then }: Rule): readonly Instruction[] {
  const tests = when.map(compileTest)
  const size = tests.flat().length
  const body: Instruction[] = []
  for (const test of tests) {
    const [last, ...before] = [test.at(-1), ...test.slice(0, -1)]
    body.push(...before)
    if (last !== undefined) body.push({ ...last, jf: size - body.length })
  }
  return [...body, give(verdictOf(then))]
}

function verdictOf(ruling: Ruling): number {
  return ruling === 'allow' ? ALLOW : ERRNO | ruling.errno
}

/**
 * Compiles a test to instructions, the last of which is a conditional jump. If the test holds, the next instruction runs. The jump's target for the
 * other case is filled in later.
 */
function compileTest(test: ArgumentTest): readonly Instruction[] {
  const low = load(offsetOfArguments + 8 * test.argument)
  if ('anyOf' in test) return [low, jump(JUMP_ANY_BIT, test.anyOf, 0, 0)]
  return [low, { code: AND, jt: 0, jf: 0, k: test.masked }, jump(JUMP_EQUAL, test.equals, 0, 0)]
}

function load(offset: number): Instruction {
  return { code: LOAD_WORD, jt: 0, jf: 0, k: offset }
}

function jump(code: number, k: number, jt: number, jf: number): Instruction {
  return { code, jt, jf, k }
}

function give(k: number): Instruction {
  return { code: RETURN, jt: 0, jf: 0, k: k >>> 0 }
}

/** Encodes a program. Both architectures are little-endian. */
function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(8 * program.length)
  const view = new DataView(bytes.buffer)
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    view.setUint16(8 * index, code, true)
    view.setUint8(8 * index + 2, jt)
    view.setUint8(8 * index + 3, jf)
    view.setUint32(8 * index + 4, k, true)
  }
  return bytes
}
