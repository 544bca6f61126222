import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import process from 'node:process'
import { encodeFence, type Fence } from '../helper/fence.ts'
import { installHelper } from '../helper/helper.ts'
import { encodePlan } from '../helper/plan.ts'
import { encodeSteps, type Identity, type Step } from '../helper/steps.ts'
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from '../host-paths.ts'
import { randomName } from '../random-name.ts'
import { shortenCommand } from '../process/long-command.ts'
import type { Command } from '../sandbox.ts'
import type { Architecture } from '../seccomp/syscalls.ts'
import { firstSize } from '../terminal/connect-terminal.ts'

/** Where containers see the helper. It is in `/dev`, because every container gets a new `/dev`. */
export const startsAt = '/dev/portcullis-start'

/** The helper in a container. */
export const helperInside = join(startsAt, 'helper')

/** A shell script that runs a command and then kills every process except itself and the container's first. Interrupts don't end the script. */
const wrapper = 'trap : TERM INT QUIT; "$@"; code=$?; kill -KILL -1 2>/dev/null; exit $code'

/** The descriptor from which a shell in a container reads a command that is too long to be an argument. */
const textDescriptor = 9

/** A mount in a container: its path on the host, its path in the container, and whether it is read-only. */
type Bound = { readonly source: string; readonly target: string; readonly readOnly: boolean }

/** How the helper runs first in a sandbox's containers. */
export type Starts = {
  /** The directory on the host that is mounted read-only at `startsAt`. */
  readonly directory: string
  /** The helper on the host. */
  readonly helper: string
  /** The argument vector of a container's first process. */
  readonly init: readonly string[]
  /** The arguments to put before a command's own arguments. They start the program that checks the mounts and puts up the fence. */
  check(mounts: readonly Bound[], fence: Fence): readonly string[]
  /** Returns the arguments that start a command, and a function that removes what they need. Call that when the command has ended. */
  wrap(command: Command): { readonly argv: readonly string[]; readonly remove: () => void }
  /** A command that says which fence there is (see `fenceVersionIn`); empty if no fence is put up. */
  readonly fence: readonly string[]
  /**
   * Returns the path at which the container has a different file or directory than planned, according to the command's standard error; undefined if
   * there is none.
   */
  failure(complaint: string): string | undefined
}

/**
 * Prepares what runs first in containers. The helper and its plans are written to a directory in `run`, which is the sandbox's own directory.
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
  const helper = installHelper(architecture, directory)
  // This text can be trusted in a command's output. It is an argument of the helper, and while the helper checks a container's mounts, nothing of a
  // command runs in that container.
  const mark = `portcullis ${randomUUID()}: not as planned: `
  const identify = (path: string): Identity => {
    const known = identityOf(path)
    if (known !== undefined) return known
    const { dev, ino } = lstatSync(path, { bigint: true })
    return { device: dev, inode: ino }
  }
  // If the daemon runs in a virtual machine, as on macOS, the same files have different inode numbers there.
  const isHere = process.platform === 'linux'
  return {
    directory,
    helper,
    init: [helperInside, 'init'],
    fence: isHere ? [helperInside, 'fence'] : [],
    check: (mounts, fence) => {
      if (!isHere) return []
      const steps = mounts.map(({ source, target, readOnly }): Step => ({
        do: 'expect',
        path: target,
        readOnly,
        identity: identify(source),
      }))
      const plan = encodePlan([...encodeSteps(steps), ...encodeFence(fence)])
      const name = createHash('sha256').update(plan).digest('hex')
      const file = join(directory, name)
      if (!existsSync(file)) writeFileSync(file, plan, { mode: 0o444 })
      return [helperInside, 'check', join(startsAt, name), mark]
    },
    wrap: (command) => {
      const short = shortenCommand(command.argv, textDescriptor)
      const words = (opening: string, argv: readonly string[]): readonly string[] => [
        ...['/bin/sh', '-c', `${firstSize(command)}${opening}${wrapper}`, 'sh'],
        ...argv,
      ]
      if (short === undefined) return { argv: words('', command.argv), remove: () => undefined }
      const name = `command-${randomName()}`
      writeFileSync(join(directory, name), short.text, { mode: 0o444, flag: 'wx' })
      return {
        argv: words(`exec ${textDescriptor}< ${join(startsAt, name)}; `, short.argv),
        remove: () => rmSync(join(directory, name), { force: true }),
      }
    },
    failure: (complaint) => {
      const at = complaint.indexOf(mark)
      return at === -1 ? undefined : complaint.slice(at + mark.length).split('\n')[0]
    },
  }
}
