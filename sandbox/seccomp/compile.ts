import type { ArgumentTest, Rule } from './rules.ts'
import { syscallNumber, type Architecture } from './syscalls.ts'

/** One instruction of classic BPF (linux/filter.h). A jump's distance is counted from the next instruction. */
type Instruction = { readonly code: number; readonly jt: number; readonly jf: number; readonly k: number }

// Instruction codes, each combined from a class, a size, a mode and an operation (linux/bpf_common.h).
const LOAD_WORD = 0x20
const AND = 0x54
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
const ENOSYS = 38

/**
 * Compiles rules into the program that seccomp(2) loads: an array of `struct sock_filter`, which `bwrap --seccomp` reads. A call through the
 * interface of a different architecture kills the process, because the same number means a different system call there.
 */
export function compileFilter(rules: readonly Rule[], architecture: Architecture): Uint8Array {
  const program: Instruction[] = [
    load(offsetOfArchitecture),
    jump(JUMP_EQUAL, auditArchitecture[architecture], 1, 0),
    give(KILL_PROCESS),
    load(offsetOfNumber),
    ...(architecture === 'x64' ? [jump(JUMP_GREATER_OR_EQUAL, x32Bit, 0, 1), give(ERRNO | ENOSYS)] : []),
    ...rules.flatMap((rule) => compileRule(rule, architecture)),
    give(ALLOW),
  ]
  return encode(program)
}

function compileRule(rule: Rule, architecture: Architecture): readonly Instruction[] {
  const number = syscallNumber(rule.syscall, architecture)
  if (number === undefined) return []
  const verdict = give(rule.then === 'allow' ? ALLOW : ERRNO | rule.then.errno)
  if (rule.when.length === 0) return [jump(JUMP_EQUAL, number, 0, 1), verdict]
  // Tests overwrite the accumulator, so every rule ends by loading the call's number into it again, for the next rule.
  const tests = rule.when.map(compileTest)
  const size = tests.flat().length
  const body: Instruction[] = []
  for (const test of tests) {
    const [last, ...before] = [test.at(-1), ...test.slice(0, -1)]
    body.push(...before)
    if (last !== undefined) body.push({ ...last, jf: size - body.length })
  }
  return [jump(JUMP_EQUAL, number, 0, size + 2), ...body, verdict, load(offsetOfNumber)]
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
