import { join } from 'node:path'
import process from 'node:process'
import { Writable } from 'node:stream'
import { execa } from 'execa'
import { existsSync, mkdirSync, readFileSync } from '../host-paths.ts'
import type { Fence } from '../helper/fence.ts'
import { helperFor } from '../helper/helper.ts'
import { mountFlags } from '../helper/steps.ts'
import { bubblewrapArguments, helperInside } from './arguments.ts'
import { behindOwnDevices, hostSharedMemory } from './mount-steps.ts'
import { diagnose, diagnoseStart, type Diagnosis } from './diagnose-bubblewrap.ts'
import { makePassingDirectory, removeRunDirectory } from '../run-directory.ts'
import { closedBase } from '../scratch.ts'
import { fenceVersionIn } from '../second-fence.ts'
import { goAhead, withoutMark } from './start-report.ts'
import { encodeStart } from './start-plan.ts'
import { watchLimits, type WatchLimits } from './watch-limits.ts'

const otherMachine = 'Use the docker backend, or Linux on an x64 or arm64 processor.'

/** A bwrap program that a trial has shown to work on this machine. */
export type Bubblewrap = {
  readonly program: string
  /** The inotify limits that this machine can enforce; undefined if none can be set. */
  readonly watches: WatchLimits | undefined
  /** The version of the second fence that a command was behind (landlock(7)); 0 if nothing but mounts confined its writes. */
  readonly fence: number
  /** Whether overlays can be mounted over caches, with what commands write stored in the directory for temporary data. */
  readonly overlays: boolean
}

export type Probe = { readonly works: true; readonly bubblewrap: Bubblewrap } | ({ readonly works: false } & Diagnosis)

/** How many milliseconds a trial may take. The limit is long enough for a busy machine: a trial that takes longer will probably never end. */
const trialMs = 60_000

/** A directory that each sandbox has. In the trial, an overlay is in its place. */
const covered = '/dev/pts'
/** What the trial says if there was an overlay. */
const overlaid = 'overlaid'
/** A fence outside of which nothing can be written to. */
const noWrites: Fence = { handled: 2, scoped: 0, roots: [] }
/**
 * Makes a directory in a cache, which only an overlay permits, and writes to the shared memory, which is writable in the trial. Only the fence can
 * refuse that, and only then its version is asked for.
 */
const script = `mkdir "$0/made" 2>&- && echo ${overlaid}; (: > /dev/shm/trial) 2>&- || exec ${helperInside} fence`

/** Tests a bwrap program by running a fully confined command with it. The result is not cached. */
export async function tryBubblewrap(program: string): Promise<Probe> {
  const watches = watchLimits()
  const limited = await tryWith(program, watches)
  if (limited.works || watches === undefined) return limited
  // The trial may have failed only because a container forbids setting limits. If there was another reason, a trial without limits fails too.
  return tryWith(program, undefined)
}

async function tryWith(program: string, watches: WatchLimits | undefined): Promise<Probe> {
  const directory = makePassingDirectory(closedBase([], 'bubblewrap'))
  try {
    for (const name of ['cache', 'upper', 'work']) mkdirSync(join(directory, name))
    return await tryIn(directory, program, watches)
  } finally {
    await removeRunDirectory(directory)
  }
}

async function tryIn(directory: string, program: string, watches: WatchLimits | undefined): Promise<Probe> {
  const { platform, arch } = process
  const storage = behindOwnDevices(directory)
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) {
    return {
      works: false,
      reason: `the program that starts commands under bubblewrap is not available for ${platform} on ${arch}`,
      remedy: otherMachine,
    }
  }
  const plan = encodeStart(arch, {
    steps: [
      { do: 'hold', as: 'cache', path: join(storage, 'cache') },
      { do: 'cover', held: 'cache', path: storage, change: { set: mountFlags.readOnly, recursive: true } },
      { do: 'mount', what: 'shared-memory', path: '/dev/shm' },
      { do: 'change', path: '/', change: { set: mountFlags.readOnly, recursive: true } },
      { do: 'mount', what: { taken: 'cache' }, path: covered },
      { do: 'mount', what: 'memory', path: '/dev/shm' },
      { do: 'mount', what: 'itself', path: '/dev' },
    ],
    kept: [],
    identity: { uid: 1000, gid: 1000 },
    watches,
    lowPorts: false,
    nullInput: true,
    cwd: '/',
    variables: {},
    fence: noWrites,
    fenceVersion: 0,
    filter: { sockets: 'loopback', unixSockets: false },
  })
  const uncovered = storage === directory ? [] : [hostSharedMemory]
  const options = bubblewrapArguments({ network: false, lowPorts: false, uncovered, helper: 4 })
  const child = execa(program, [...options, '--', helperInside, 'start', '5', '3', '/bin/sh', '-c', script, covered], {
    reject: false,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: {},
    extendEnv: false,
    timeout: trialMs,
  })
  for (const [descriptor, content] of [[4, helperFor(arch)] as const, [5, plan] as const]) {
    const input = child.stdio[descriptor]
    if (input instanceof Writable) input.on('error', () => undefined).end(content)
  }
  const control = child.stdio[3]
  if (control instanceof Writable) control.on('error', () => undefined).write(goAhead)
  const { exitCode, stdout, stderr, shortMessage, stdio } = await child
  const machine = { appArmorRestricts: appArmorRestricts() }
  const report = withoutMark(String(stdio[3] ?? ''))
  if (report !== '') return { works: false, ...diagnoseStart(report, exitCode ?? 0, machine) }
  if (exitCode === 0) {
    const said = String(stdout)
    const overlays = said.startsWith(overlaid)
    return { works: true, bubblewrap: { program, watches, fence: fenceVersionIn(said), overlays } }
  }
  return { works: false, ...diagnose(stderr === '' ? (shortMessage ?? '') : stderr, machine) }
}

/** Whether AppArmor allows unprivileged user namespaces only to programs with a profile, as it does in Ubuntu 24.04 and later. */
function appArmorRestricts(): boolean {
  const file = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns'
  return existsSync(file) && readFileSync(file, 'utf8').trim() === '1'
}
