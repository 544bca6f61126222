import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { test } from 'vitest'
import { hierarchyHere } from '../../sandbox/limits/prepare.ts'

/** A test function with all its variants (`.each`, `.for`), which either runs its tests or skips them. */
export type Test = typeof test.skip

/**
 * Returns the test function for tests of something that may be missing here.
 *
 * @param missing why the tests can't run here, which is printed once to stderr; undefined if they can
 * @param otherwise the function to use if nothing is missing
 */
export function testUnless(missing: string | undefined, otherwise: Test = test): Test {
  if (missing === undefined) return otherwise
  tell(missing)
  return otherwise.skip
}

/** Like `testUnless`, but on CI the tests aren't skipped, so they fail if something is missing. */
export function testUnlessOnCi(missing: string | undefined, otherwise: Test = test): Test {
  return testUnless(isCi() ? undefined : missing, otherwise)
}

let noBubblewrap: string | null | undefined
/** Why bubblewrap can't confine commands here; undefined if it can. It may be installed without being allowed to create namespaces. */
export function whyNoBubblewrap(): string | undefined {
  noBubblewrap ??= failureOf('bwrap', [
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'],
  ])
  return noBubblewrap ?? undefined
}

let noDocker: string | null | undefined
/** Why docker can't be used here; undefined if it can. */
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

/** Whether bubblewrap is missing here. If it is, the reason is printed once. On CI, this is an error, because tests must not be skipped there. */
export function needsBubblewrap(): boolean {
  return isMissing('bubblewrap', whyNoBubblewrap())
}

/** Whether util-linux's `script`, which gives another program its own terminal, is missing here. If it is, the reason is printed once. */
export function needsScript(): boolean {
  const present = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true
  return isMissing('script', present ? undefined : 'the program script of util-linux is not installed')
}

/** Whether one of these programs is missing. Each missing program is printed. This is not an error, not even on CI. */
export function needsPrograms(...names: readonly string[]): boolean {
  const missing = names.filter((name) => spawnSync('sh', ['-c', 'command -v "$0"', name]).status !== 0)
  for (const name of missing) tell(`the program ${name} is not installed`)
  return missing.length > 0
}

/** Arguments that start a program in an environment in which bubblewrap seems not to be installed. */
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
/** Prints a reason directly to stderr, where the runner shows it even if no test runs. */
function tell(reason: string): void {
  if (told.has(reason)) return
  told.add(reason)
  process.stderr.write(`skipped: ${reason}\n`)
}

/** Why a program can't be run, in one line; `null` if it can. */
function failureOf(program: string, args: readonly string[]): string | null {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (error !== undefined) return `the program ${program} is not installed`
  return status === 0 ? null : `${program} can't be used here: ${stderr.trim().replaceAll(/\s*\n\s*/g, ' ')}`
}

let noOtherUser: string | null | undefined
/** Why a test can't run this program as another user; undefined if it can. The user must be able to read the checkout and the Node that runs it. */
export function whyNoOtherUser(): string | undefined {
  noOtherUser ??= process.geteuid?.() === 0 ? whyNotReachable() : 'only root becomes another user'
  return noOtherUser ?? undefined
}

/** Whether tests that run this program as another user have to be skipped; the reason is printed. */
export function needsOtherUser(): boolean {
  const reason = whyNoOtherUser()
  if (reason !== undefined) tell(reason)
  return reason !== undefined
}

function whyNotReachable(): string | null {
  const [node, file] = [process.execPath, new URL(import.meta.url).pathname]
  const found = spawnSync('/bin/sh', ['-c', 'test -x "$1" && test -r "$2"', 'sh', node, file], {
    uid: 65534,
    gid: 65534,
  })
  return found.status === 0 ? null : `other users can't reach ${node} and ${file}`
}
