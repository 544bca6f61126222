import { realpathSync } from '../host-paths.ts'
// execa isn't used here, because execa would add a millisecond of processor time to every command.
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { commandEnvironment } from '../environment.ts'
import { SandboxError } from '../sandbox-error.ts'
import { hostFileSystem } from '../file-system-view.ts'
import { createPlaceFinder, type GuardedPlaces } from '../git/guarded-places.ts'
import { noPrivateGit } from '../git/private-git.ts'
import { ownPlaces } from '../installation/own-paths.ts'
import { prepareLimits } from '../limits/prepare.ts'
import { commandLimits } from '../limits/watched.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { placesForCommand, policyForCommand } from '../command-policy.ts'
import { createPipes } from '../process/pipes.ts'
import { handedCommand } from '../process/long-command.ts'
import { patience } from '../process/patience.ts'
import { signal } from '../process/signal.ts'
import { startedChild } from '../process/started.ts'
import { stdinOf } from '../process/stdin.ts'
import { RunningCommands } from '../process/running-commands.ts'
import { supervise } from '../process/supervise.ts'
import { keepTail } from '../process/tail.ts'
import { locateProgram, requireDirectory } from '../locate-program.ts'
import { protectedBelow, writableRoots } from '../roots.ts'
import { makeRunDirectory, removeRunDirectory } from '../run-directory.ts'
import type { Command, Sandbox, SandboxProcess } from '../sandbox.ts'
import { markVariable, startWatchdog } from '../unconfined/process-watchdog.ts'
import { hostShell } from '../shell.ts'
import type { NetworkGrant } from './base-rules.ts'
import { sandboxExec, sandboxExecArguments } from './command-line.ts'
import { denialsFromSeatbelt } from './denials.ts'
import { diagnoseSeatbelt, triedToNest } from './diagnose-seatbelt.ts'
import { seatbeltProfile, type SeatbeltProfile } from './profile.ts'
import { refuseTerminal, refuseUnenforceable, unenforcedOnMacOs } from './refuse.ts'
import { killOrphans } from './kill-orphans.ts'

/**
 * Confines commands with macOS's sandbox-exec(1). Throws `unavailable` on any other system, if a part of the policy can't be enforced, or if macOS
 * rejects the profile, which is tested before any command runs.
 */
export async function openSeatbelt(policy: SandboxPolicy): Promise<Sandbox> {
  refuseUnenforceable(policy, { platform: process.platform, root: process.geteuid?.() === 0 })
  const roots = writableRoots(policy, hostFileSystem)
  const limits = prepareLimits(policy, { processLimit: false }, 'seatbelt')
  const run = makeRunDirectory(roots, 'seatbelt')
  const finder = createPlaceFinder(roots, [...protectedBelow(roots, policy), ...ownPlaces(roots)])
  const machine = { host: hostFileSystem, privateTemp: run.temp }
  const profileFor = (places: GuardedPlaces, applied = policy): SeatbeltProfile =>
    seatbeltProfile(applied, places, networkOf(applied), machine)
  try {
    tryOut(profileFor(finder.find()))
  } catch (error) {
    await removeRunDirectory(run.path)
    throw error
  }
  // Pipes are not reused, because a process that escaped our search may still write to one.
  const commandPipes = createPipes(run.path, false)
  const watchdog = startWatchdog()
  const running = new RunningCommands()
  let open = true

  const start = (command: Command): SandboxProcess => {
    if (!open) throw new SandboxError('closed', { backend: 'seatbelt' })
    requireDirectory(command.cwd, 'working directory')
    refuseTerminal(command)
    const { variables } = commandEnvironment(policy, process.env, command, run.temp)
    const [file, ...rest] = command.argv
    const executable = locateProgram(file, command.cwd, variables['PATH'])
    const places = placesForCommand(command, finder, noPrivateGit, running, roots)
    const applied = policyForCommand(policy, command)
    const profile = profileFor(places, applied)
    const limited = limits.start()
    const handed = handedCommand([executable, ...rest], run.path, 3)
    const output = commandPipes.open()
    const mark = randomUUID()
    // The shell that sets the limits runs inside the sandbox, because it gets the command's environment variables, and these could define shell
    // functions.
    const inside = ['/bin/sh', '-c', limited.script, 'sh', ...handed.argv]
    const child = spawn(sandboxExec, sandboxExecArguments(profile, inside), {
      cwd: realpathSync(command.cwd),
      env: { ...variables, [markVariable]: mark },
      // The command starts in a new session: it has no terminal from which it could wait for input, and its process group can be killed as a whole.
      detached: true,
      stdio: [stdinOf(command), output.stdout.descriptor, output.stderr.descriptor, ...handed.stdio],
    })
    handed.started()
    const group = child.pid
    if (group !== undefined) watchdog.watch(mark, group)
    const complaint = keepTail(output.stderr.source)
    let stopped = false
    const tell = (name: NodeJS.Signals): void => {
      stopped = true
      if (group !== undefined) signal(-group, name)
    }
    return supervise({
      ...startedChild(child, output),
      terminate: () => tell('SIGTERM'),
      destroy: () => tell('SIGKILL'),
      ...commandLimits(policy, command, [...roots, run.temp]),
      signal: command.signal,
      settle: async ({ code, signal: endedBy }) => {
        if (group !== undefined) {
          killOrphans(mark, group)
          watchdog.forget(mark, group)
        }
        const stderr = complaint.text()
        const failure = triedToNest(stderr) ? undefined : diagnoseSeatbelt(code, stderr)
        if (failure !== undefined) {
          throw new SandboxError('setup-failed', {
            backend: 'seatbelt',
            detail: `${failure.reason}. ${failure.remedy}`,
          })
        }
        const ended = stopped ? { code: null, signal: null, stderr } : { code, signal: endedBy, stderr }
        const said = denialsFromSeatbelt(applied, { ...ended, cwd: command.cwd }, hostFileSystem)
        return [...limited.end(ended), ...said]
      },
    })
  }

  return {
    backend: 'seatbelt',
    policy,
    unenforced: unenforcedOnMacOs,
    node: [process.execPath],
    shell: hostShell(),
    spawn: (command) => running.add(command, start(command)),
    inspect: async () => [],
    isWriting: () => running.writing > 0,
    close: async () => {
      open = false
      await running.endAll()
      limits.close()
      commandPipes.close()
      await removeRunDirectory(run.path)
      watchdog.close()
    },
  }
}

/**
 * Runs `true` under the profile. This shows, before any command runs, whether macOS supports all operations in the profile, and whether this process
 * is already confined.
 */
function tryOut(profile: SeatbeltProfile): void {
  const { error, status, stderr } = spawnSync(sandboxExec, sandboxExecArguments(profile, ['/usr/bin/true']), {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    ...patience,
  })
  if (status === 0) return
  throw new SandboxError('unavailable', {
    backend: 'seatbelt',
    ...(diagnoseSeatbelt(status, stderr ?? '') ?? {
      reason: `sandbox-exec could not run even /usr/bin/true (${error?.message ?? (stderr.trim() || `exit code ${status}`)})`,
      remedy: 'Use the docker backend.',
    }),
  })
}

function networkOf(policy: SandboxPolicy): NetworkGrant {
  switch (policy.network.mode) {
    // This case can't occur: a policy with an allow-list is refused before this backend is opened.
    case 'allowlist':
    case 'off':
      return { kind: 'none' }
    case 'full':
      return { kind: 'internet' }
    default:
      return policy.network satisfies never
  }
}
