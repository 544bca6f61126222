import process from 'node:process'
import { Writable } from 'node:stream'
import { execa } from 'execa'
import { existsSync, readFileSync } from '../host-paths.ts'
import { mountFlags } from '../mounting/step-layout.ts'
import { bubblewrapArguments } from './arguments.ts'
import { diagnose, diagnoseStart, type Diagnosis } from './diagnose-bubblewrap.ts'
import { withoutMark } from './start-report.ts'
import { goAhead } from './start-form.ts'
import { startPath, startProgram } from './start-program.ts'
import { watchLimits, type WatchLimits } from './watch-limits.ts'

const otherMachine = 'Use the docker backend, or Linux on an x64 or arm64 processor.'

/** A bwrap program that a trial has shown to work on this machine. */
export type Bubblewrap = {
  readonly program: string
  /** The inotify limits that this machine can enforce; undefined if none can be set. */
  readonly watches: WatchLimits | undefined
}

export type Probe = { readonly works: true; readonly bubblewrap: Bubblewrap } | ({ readonly works: false } & Diagnosis)

/** How many milliseconds a trial may take. The limit is long enough for a busy machine: a trial that takes longer will probably never end. */
const trialMs = 60_000

/** Tests a bwrap program by running a fully confined command with it. The result is not cached. */
export async function tryBubblewrap(program: string): Promise<Probe> {
  const watches = watchLimits()
  const limited = await tryWith(program, watches)
  if (limited.works || watches === undefined) return limited
  // The trial may have failed only because a container forbids setting limits. If there was another reason, a trial without limits fails too.
  return tryWith(program, undefined)
}

async function tryWith(program: string, watches: WatchLimits | undefined): Promise<Probe> {
  const { platform, arch } = process
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) {
    return {
      works: false,
      reason: `the program that starts commands under bubblewrap is not available for ${platform} on ${arch}`,
      remedy: otherMachine,
    }
  }
  const first = startProgram(arch, {
    steps: [
      { do: 'mount', what: 'shared-memory', path: '/dev/shm' },
      { do: 'change', path: '/', change: { set: mountFlags.readOnly, recursive: true } },
      { do: 'mount', what: 'memory', path: '/dev/shm' },
      { do: 'mount', what: 'itself', path: '/dev' },
    ],
    report: 3,
    kept: [],
    identity: { uid: 1000, gid: 1000 },
    watches,
    nullInput: true,
    cwd: '/',
    variables: {},
    filter: { sockets: 'loopback', unixSockets: false },
  })
  const shown = [{ descriptor: 4, path: startPath, program: first }]
  const options = bubblewrapArguments({ network: false, uncovered: [], shown })
  const child = execa(program, [...options, '--', startPath, '/bin/sh', '-c', 'exit 0'], {
    reject: false,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: {},
    extendEnv: false,
    timeout: trialMs,
  })
  const input = child.stdio[4]
  if (input instanceof Writable) input.on('error', () => undefined).end(first)
  const control = child.stdio[3]
  if (control instanceof Writable) control.on('error', () => undefined).write(goAhead)
  const { exitCode, stderr, shortMessage, stdio } = await child
  const machine = { appArmorRestricts: appArmorRestricts() }
  const report = withoutMark(String(stdio[3] ?? ''))
  if (report !== '') return { works: false, ...diagnoseStart(report, exitCode ?? 0, machine) }
  if (exitCode === 0) return { works: true, bubblewrap: { program, watches } }
  return { works: false, ...diagnose(stderr === '' ? (shortMessage ?? '') : stderr, machine) }
}

/** Whether AppArmor allows unprivileged user namespaces only to programs with a profile, as it does in Ubuntu 24.04 and later. */
function appArmorRestricts(): boolean {
  const file = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns'
  return existsSync(file) && readFileSync(file, 'utf8').trim() === '1'
}
