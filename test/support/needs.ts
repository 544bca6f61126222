import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { test } from 'vitest'
import { hierarchyHere } from '../../sandbox/limits/prepare.ts'

/** A test function with all of its ways (`.each`, `.for`), which runs what it is given or skips it. */
export type Test = typeof test.skip

/**
 * The tests of something that may be missing here.
 *
 * @param missing why they can't run here, or undefined when they can; said once on stderr
 * @param otherwise the function to use if nothing is missing
 */
export function testUnless(missing: string | undefined, otherwise: Test = test): Test {
  if (missing === undefined) return otherwise
  tell(missing)
  return otherwise.skip
}

/** The same for programs that must exist on a CI machine: there the tests run and fail. */
export function testUnlessOnCi(missing: string | undefined, otherwise: Test = test): Test {
  return testUnless(isCi() ? undefined : missing, otherwise)
}

let noBubblewrap: string | null | undefined
/** Why bubblewrap can't confine here, or undefined when it can: it may be installed, but not allowed to create namespaces. */
export function whyNoBubblewrap(): string | undefined {
  noBubblewrap ??= failureOf('bwrap', [
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'],
  ])
  return noBubblewrap ?? undefined
}

let noDocker: string | null | undefined
/** Why docker can't be used here, or undefined when it can. */
export function whyNoDocker(): string | undefined {
  noDocker ??= failureOf('docker', ['version'])
  return noDocker ?? undefined
}

/** Why a command's processes can't be limited and measured together; undefined if control groups can do so. */
export function whyNoControlGroups(): string | undefined {
  if (hierarchyHere() !== undefined) return undefined
  return 'no control groups can be made here: memory is limited for each process by itself, and no refusal is proven'
}

/** Why tests that need root can't run here; undefined for root. */
export function whyNotRoot(what: string): string | undefined {
  return process.geteuid?.() === 0 ? undefined : `only root ${what}`
}

/** Whether bubblewrap is missing here, said once. On a CI machine its absence is an error: tests must not skip there. */
export function needsBubblewrap(): boolean {
  return isMissing('bubblewrap', whyNoBubblewrap())
}

/** Whether `script`, which gives a program a terminal of its own, is missing here, said once. */
export function needsScript(): boolean {
  const present = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true
  return isMissing('script', present ? undefined : 'the program script of util-linux is not installed')
}

/** Whether one of these programs, which a machine may well lack, is missing here; said for each. */
export function needsPrograms(...names: readonly string[]): boolean {
  const missing = names.filter((name) => spawnSync('sh', ['-c', 'command -v "$0"', name]).status !== 0)
  for (const name of missing) tell(`the program ${name} is not installed`)
  return missing.length > 0
}

/** Starts a program where bubblewrap seems not to be installed. */
export const hidingBubblewrap = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap', '--']

function isMissing(name: string, reason: string | undefined): boolean {
  if (reason === undefined) return false
  if (isCi()) throw new Error(`${name} is needed by these tests on CI: ${reason}`)
  tell(reason)
  return true
}

function isCi(): boolean {
  return process.env['CI'] === 'true'
}

const told = new Set<string>()
/** Says it on stderr itself, where the runner shows it even though no test runs. */
function tell(reason: string): void {
  if (told.has(reason)) return
  told.add(reason)
  process.stderr.write(`skipped: ${reason}\n`)
}

/** What a program said, in a line, when it could not be run; `null` when it could. */
function failureOf(program: string, args: readonly string[]): string | null {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (error !== undefined) return `the program ${program} is not installed`
  return status === 0 ? null : `${program} can't be used here: ${stderr.trim().replaceAll(/\s*\n\s*/g, ' ')}`
}
