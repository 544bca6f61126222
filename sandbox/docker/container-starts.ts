import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import process from 'node:process'
import { existsSync, lstatSync, mkdirSync, writeFileSync } from '../host-paths.ts'
import type { Architecture } from '../machine-code/machine-instructions.ts'
import { makeProgram, words } from '../machine-code/make-program.ts'
import { checkProgram } from '../mounting/check-program.ts'
import type { Identity, Step } from '../mounting/step-layout.ts'
import { SIGCHLD } from '../machine-code/kernel.ts'

/** Where containers see our programs that run first. It is in `/dev`, because every container gets a new `/dev`. */
export const startsAt = '/dev/portcullis-start'

/** A mount in a container: its path on the host, its path in the container, and whether it is read-only. */
type Bound = { readonly source: string; readonly target: string; readonly readOnly: boolean }

/**
 * Our own programs that run first in a sandbox's containers. Their files can be executed but not read, so that other processes can't inspect the
 * processes that run them.
 */
export type Starts = {
  /** The directory on the host that is mounted read-only at `startsAt`. */
  readonly directory: string
  /** The argument vector of a container's first process. It contains only the path of a program. */
  readonly init: readonly [string]
  /** The arguments to put before a command's own arguments. They start the program that checks the mounts. */
  check(mounts: readonly Bound[]): readonly string[]
  /**
   * Returns the path at which the container has a different file or directory than planned, according to the command's standard error; undefined if
   * there is none.
   */
  failure(complaint: string): string | undefined
}

const SIG_IGN = 1

/**
 * Prepares the programs that run first in containers. They are written to a directory in `run`, which is the sandbox's own directory.
 *
 * @param identityOf returns the identity that a path had when the sandbox was opened; undefined for paths whose identity isn't kept
 */
export function prepareStarts(
  architecture: Architecture,
  run: string,
  identityOf: (path: string) => Identity | undefined,
): Starts {
  const directory = join(run, 'start')
  mkdirSync(directory, { mode: 0o700 })
  const install = (name: string, program: () => Uint8Array): string => {
    const file = join(directory, name)
    if (!existsSync(file)) writeFileSync(file, program(), { mode: 0o111 })
    return join(startsAt, name)
  }
  // This text can be trusted in a command's output: no command can read the programs that contain it, so none can imitate it.
  const mark = `portcullis ${randomUUID()}: not as planned: `
  const identify = (path: string): Identity => {
    const known = identityOf(path)
    if (known !== undefined) return known
    const { dev, ino } = lstatSync(path, { bigint: true })
    return { device: dev, inode: ino }
  }
  return {
    directory,
    init: [install('init', () => initProgram(architecture))],
    check: (mounts) => {
      // If the daemon runs in a virtual machine, as on macOS, the same files have different inode numbers there.
      if (process.platform !== 'linux') return []
      const steps = mounts.map(({ source, target, readOnly }): Step => ({
        do: 'expect',
        path: target,
        readOnly,
        identity: identify(source),
      }))
      const key = JSON.stringify(steps, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
      const name = createHash('sha256').update(key).digest('hex')
      return [install(name, () => checkProgram(architecture, steps, mark))]
    },
    failure: (complaint) => {
      const at = complaint.indexOf(mark)
      return at === -1 ? undefined : complaint.slice(at + mark.length).split('\n')[0]
    },
  }
}

/** Encodes a program that waits until its input ends. Meanwhile the kernel reaps orphaned processes, because the program ignores SIGCHLD. */
function initProgram(architecture: Architecture): Uint8Array {
  return makeProgram(architecture, (memory) => {
    const buffer = memory.space(64)
    const count = memory.variable()
    // The kernel's struct sigaction: handler, flags, restorer, mask.
    const ignore = memory.bytes(words(SIG_IGN, 0, 0, 0))
    return [
      { call: 'rt_sigaction', operands: [SIGCHLD, ignore, 0, 8] },
      { label: 'wait' },
      { call: 'read', operands: [0, buffer, 64], result: count, failed: 'end' },
      { when: count, is: 0, goto: 'end' },
      { goto: 'wait' },
      { label: 'end' },
      { call: 'exit', operands: [0] },
    ]
  })
}
