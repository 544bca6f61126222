import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { openSandbox, parsePolicy, type Sandbox, type SandboxPolicyInput } from '../../sandbox/index.ts'
import { compileFilter } from '../../sandbox/seccomp/compile.ts'
import { filterRules } from '../../sandbox/seccomp/rules.ts'
import { syscallNumber, syscallsOf } from '../../sandbox/seccomp/syscalls.ts'
import { needsPrograms, testUnless } from '../support/needs.ts'
import { interpret } from './bpf.ts'
import { ensureImage, image, imageRoots } from './docker-image.ts'
import { closeLater, run, temporaryDirectory, testInBubblewrap, testInDocker } from './helpers.ts'

const noCompiler = needsPrograms('gcc') ? 'every call is made by a program in C' : undefined
const inBubblewrap = testUnless(noCompiler, testInBubblewrap)
const inDocker = testUnless(noCompiler, testInDocker)

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
const audit = { x64: 0xc000_003e, arm64: 0xc000_00b7 }
const EPERM = 1
const ENOSYS = 38
const numbers = Array.from({ length: 601 }, (_, number) => number)
/** The program makes each call with -1 for every argument. */
const everyArgument = Array.from({ length: 6 }, () => 0xffff_ffff_ffff_ffffn)

const filter = compileFilter(filterRules('loopback'), architecture)
const expected = new Map(
  numbers.map((number) => {
    const verdict = interpret(filter, { number, architecture: audit[architecture], arguments: everyArgument })
    return [number, verdict === 'allow' || verdict === 'kill' ? verdict : verdict.errno] as const
  }),
)
const rows = new Set(syscallsOf(architecture).map((name) => syscallNumber(name, architecture)))

/** The errors with which calls ended, by their number: 0 for success, and -1 if the process didn't return from the call. */
type Errors = ReadonlyMap<number, number>

function parse(output: string): Errors {
  return new Map(output.split('\n').map((line) => line.split(' ').map(Number) as [number, number]))
}

/** Runs the program outside the sandbox, to find out which errors of allowed calls come from the kernel itself. */
function outside(program: string): Errors {
  const allowed = numbers.filter((number) => expected.get(number) === 'allow')
  return parse(execFileSync(program, allowed.map(String), { encoding: 'utf8' }))
}

/** What the filter did, as far as an error shows: a call that ends with the kernel's own error was allowed. */
function observed(number: number, error: number | undefined, kernel: Errors): number | 'allow' | undefined {
  if (expected.get(number) !== 'allow') return error
  return (error === EPERM || error === ENOSYS) && kernel.get(number) !== error ? error : 'allow'
}

async function tryAll(policy: Partial<SandboxPolicyInput>, open: (policy: SandboxPolicyInput) => Promise<Sandbox>) {
  const workspace = await temporaryDirectory()
  const program = join(workspace, 'every-call')
  const source = fileURLToPath(new URL('every-call.c', import.meta.url))
  execFileSync('gcc', ['-static', '-O1', '-o', program, source])
  const sandbox = closeLater(await open({ mode: 'workspace-write', workspace, ...policy }))
  const { stdout } = await run(sandbox, '', { argv: ['./every-call', ...numbers.map(String)] })
  const inside = parse(stdout)
  const kernel = outside(program)
  return new Map(numbers.map((number) => [number, observed(number, inside.get(number), kernel)]))
}

inBubblewrap('in bubblewrap, every system call from 0 to 600 ends as the table says', async () => {
  const got = await tryAll({}, (policy) => openSandbox(parsePolicy(policy), { backend: 'bubblewrap' }))
  expect(got).toEqual(expected)
})

inDocker('in docker, every system call from 0 to 600 ends as the table says', async () => {
  ensureImage()
  const got = await tryAll({ readableRoots: [...imageRoots] }, (policy) =>
    openSandbox(parsePolicy(policy), { backend: 'docker', image }),
  )
  // Docker ignores the names that it doesn't know, and Docker before version 23 refuses unknown calls with EPERM.
  const newest = syscallNumber('process_mrelease', architecture) ?? 0
  const isUnknown = (number: number): boolean => number > newest || !rows.has(number)
  const told = numbers.map((number) => {
    const error = got.get(number)
    return [number, isUnknown(number) && (error === EPERM || error === ENOSYS) ? 'refused' : error]
  })
  const wanted = numbers.map((number, index) => [
    number,
    isUnknown(number) && (told[index]?.[1] === 'refused' || expected.get(number) !== 'allow')
      ? 'refused'
      : expected.get(number),
  ])
  expect(told).toEqual(wanted)
})
