// execa isn't used here, because all commands, hooks and servers outside the sandbox start here, each with its own pipes and a watchdog that finds
// its processes.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { commandEnvironment } from '../environment.ts'
import { SandboxError } from '../sandbox-error.ts'
import { prepareLimits } from '../limits/prepare.ts'
import { commandLimits } from '../limits/watched.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { signal } from '../process/signal.ts'
import { createPipes } from '../process/pipes.ts'
import { keepTail } from '../process/tail.ts'
import { startedChild } from '../process/started.ts'
import { handedCommand } from '../process/long-command.ts'
import { stdinOf } from '../process/stdin.ts'
import { RunningCommands } from '../process/running-commands.ts'
import { supervise } from '../process/supervise.ts'
import { locateProgram, requireDirectory } from '../locate-program.ts'
import { makeRunDirectory, removeRunDirectory } from '../run-directory.ts'
import type { Command, Sandbox, SandboxProcess } from '../sandbox.ts'
import { checkTerminal, connectTerminal } from '../terminal/connect-terminal.ts'
import { hostShell } from '../shell.ts'
import { sourcePath } from '../views/view-paths.ts'
import { findViewer, showViews } from './show-views.ts'
import { keepTerminalProgram, terminalControl } from './terminal-control.ts'
import { markVariable, startWatchdog, sweep } from './process-watchdog.ts'

/** The first process of a container inherits what others leave behind, but Node waits only for the children that it started itself. */
const reapsNothing =
  'ended processes stay in the process table: this is the first process of its container, and reaps none but its own. Start the container with an init process (docker run --init)'

/**
 * Runs commands with the caller's own rights, for `danger-full-access` only. The environment, the time and the output are limited as in the other
 * backends. The processes that a command leaves behind are killed, as far as they can be found. `backend` is the name to report. Throws
 * `unavailable` if the policy has a different mode.
 */
export async function openUnconfined(policy: SandboxPolicy, backend: 'unconfined' | 'external'): Promise<Sandbox> {
  if (policy.mode !== 'danger-full-access') {
    throw new SandboxError('unavailable', {
      backend,
      reason: `it confines nothing, but the mode ${policy.mode} requires confinement`,
      remedy: 'Choose a backend that confines commands, or danger-full-access mode.',
    })
  }
  const viewer = policy.views.length === 0 ? undefined : await findViewer()
  if (policy.views.length > 0 && viewer === undefined) {
    throw new SandboxError('unavailable', {
      backend,
      reason: "it can't give commands a private view of the workspace, because bubblewrap does not work here",
      remedy: 'Install bubblewrap, or leave out the views.',
    })
  }
  // The kernel's limit on a user's processes would also count the caller's other processes, so only a control group can limit a command's processes.
  const limits = prepareLimits(policy, { processLimit: false }, backend)
  const run = makeRunDirectory([], backend)
  // Pipes are not reused, because a process that leaves its group and clears its environment can't be found and killed, and may still write to its
  // pipe.
  const commandPipes = createPipes(run.path, false)
  const terminalProgram = keepTerminalProgram(run.path, backend)
  const watchdog = startWatchdog()
  const running = new RunningCommands()
  const { views } = policy
  const shown = viewer === undefined ? undefined : showViews(viewer, views, run.path)
  let open = true

  const start = (command: Command): SandboxProcess => {
    if (!open) throw new SandboxError('closed', { backend })
    requireDirectory(sourcePath(command.cwd, views), 'working directory')
    checkTerminal(command)
    const given = commandEnvironment(policy, process.env, command).variables
    const variables = { ...given, ...shown?.variables }
    const [file, ...rest] = command.argv
    const mark = randomUUID()
    const executable = locateProgram(file, command.cwd, given['PATH'], views)
    const inTerminal = command.terminal === undefined ? [] : terminalProgram()
    const began = shown?.start(command.cwd) ?? []
    const handed = handedCommand(
      [executable, ...rest],
      run.path,
      terminalControl + (command.terminal === undefined ? 0 : 1),
    )
    const limited = limits.start()
    const output = commandPipes.open()
    const child = spawn('/bin/sh', ['-c', limited.script, file, ...inTerminal, ...began, ...handed.argv], {
      // A directory that exists only in a view is entered after the view has been mounted.
      cwd: shown === undefined ? command.cwd : '/',
      env: { ...variables, [markVariable]: mark },
      // The command starts in a new session: it has no terminal from which it could wait for input, and its process group can be killed as a whole.
      detached: true,
      stdio: [
        stdinOf(command),
        output.stdout.descriptor,
        output.stderr.descriptor,
        ...(command.terminal === undefined ? [] : (['pipe'] as const)),
        ...handed.stdio,
      ],
    })
    handed.started()
    const group = child.pid
    if (group !== undefined) watchdog.watch(mark, group)
    const complaint = keepTail(command.terminal === undefined ? output.stderr.source : output.stdout.source)
    const started = startedChild(child, output)
    const tell = (name: NodeJS.Signals): void => {
      if (group !== undefined) signal(-group, name)
    }
    return supervise({
      ...(command.terminal === undefined
        ? started
        : connectTerminal(started, child.stdio[terminalControl], command.terminal)),
      terminate: () => tell('SIGTERM'),
      destroy: () => tell('SIGKILL'),
      ...commandLimits(policy, command, [policy.workspace, run.temp]),
      signal: command.signal,
      settle: async ({ code, signal: endedBy }) => {
        if (group !== undefined) {
          sweep(mark, group)
          watchdog.forget(mark, group)
        }
        return limited.end({ code, signal: endedBy, stderr: complaint.text() })
      },
    })
  }

  return {
    backend,
    policy,
    unenforced: [...limits.unenforced, ...(process.pid === 1 ? [reapsNothing] : [])],
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
