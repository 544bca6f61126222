import { spawnSync } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import {
  openSandbox,
  parsePolicy,
  type Backend,
  type Command,
  type ExecResult,
  type Sandbox,
  type SandboxPolicyInput,
} from '../../sandbox/index.ts'
import { testUnlessOnCi, whyNoBubblewrap, whyNoDocker } from '../support/needs.ts'

/** The test function for tests that need bubblewrap. If bubblewrap can't be used, a test is skipped with the reason, or fails on CI. */
export const testInBubblewrap = testUnlessOnCi(whyNoBubblewrap())

/** The test function for tests that need docker. If docker can't be used, a test is skipped with the reason, or fails on CI. */
export const testInDocker = testUnlessOnCi(whyNoDocker())

/** Creates a directory that is removed when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'sandbox-test-')))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Opens a sandbox that is closed when the test ends. */
export async function openFor(policy: SandboxPolicyInput, backend?: Backend): Promise<Sandbox> {
  return closeLater(await openSandbox(parsePolicy(policy), { backend }))
}

/** Closes a sandbox when the test ends. */
export function closeLater(sandbox: Sandbox): Sandbox {
  // Test files share a process, so a hook of this module would belong only to the first file that imports it.
  onTestFinished(() => sandbox.close())
  return sandbox
}

export type Ran = { readonly stdout: string; readonly stderr: string; readonly result: ExecResult }

/** Runs a shell script in a sandbox, in its workspace, and collects its output. */
export async function run(sandbox: Sandbox, script: string, command: Partial<Command> = {}): Promise<Ran> {
  const started = sandbox.spawn({ argv: ['sh', '-c', script], cwd: sandbox.policy.workspace, ...command })
  const [stdout, stderr, result] = await Promise.all([text(started.stdout), text(started.stderr), started.result])
  return { stdout, stderr, result }
}

/** The exit code of a command that exited. If the command ended in any other way, the test fails. */
export function codeOf({ result, stderr }: Ran): number {
  if (result.status !== 'exited') throw new Error(`the command did not exit but was ${result.status}: ${stderr}`)
  return result.code
}

/** The lines of `ps` for live processes whose command line contains `needle`. */
export function processesWith(needle: string): readonly string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.includes(needle) && !/^\s*\d+\s+Z/.test(line))
}

/** Waits until `condition` is true. No test depends on the duration, so the test's time-out is the only limit. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10))
}
