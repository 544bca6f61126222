// execa isn't used here, because execa would add a millisecond of processor time to every command.
import { spawn } from 'node:child_process'
import process from 'node:process'
import { Writable, type Readable } from 'node:stream'
import { realpathSync } from '../host-paths.ts'
import { capDenials } from '../denials/cap.ts'
import { fastForwardIn } from '../credentials/fast-forward.ts'
import { denialsFromOutput } from '../denials/from-output.ts'
import { commandEnvironment } from '../environment.ts'
import { dockerSocketGroup } from '../docker-socket.ts'
import { SandboxError } from '../sandbox-error.ts'
import { hostFileSystem } from '../file-system-view.ts'
import { refuseAbstractSockets } from '../host-sockets.ts'
import type { Place } from '../held-place.ts'
import { unlimitedOutput } from '../git/pack.ts'
import { prepareLimits } from '../limits/prepare.ts'
import { commandLimits } from '../limits/watched.ts'
import { helperFor, requireArchitecture } from '../helper/helper.ts'
import type { NetworkOptions } from '../network/proxy.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { waitForExit, signal } from '../process/signal.ts'
import { createPipes } from '../process/pipes.ts'
import { keepTail } from '../process/tail.ts'
import { startedChild } from '../process/started.ts'
import { handedInput } from '../process/handed-input.ts'
import { handedCommand } from '../process/long-command.ts'
import { supervise } from '../process/supervise.ts'
import { locateProgram, requireDirectory } from '../locate-program.ts'
import { allRunDirectories } from '../run-directory.ts'
import type { Command, Sandbox, SandboxProcess } from '../sandbox.ts'
import { checkTerminal } from '../terminal/connect-terminal.ts'
import { bubblewrapArguments, helperInside } from './arguments.ts'
import { kernelView } from './kernel-view.ts'
import { hostSharedMemory, lookAtHost, mountSteps, requireSame, usesSharedMemory } from './mount-steps.ts'
import { planAgain } from './plan-again.ts'
import { planMounts } from '../mounts.ts'
import { planFence } from '../plan-fence.ts'
import { nameFence } from '../second-fence.ts'
import { encodeText } from '../path-bytes.ts'
import { policyForCommand } from '../command-policy.ts'
import { hostShell } from '../shell.ts'
import { shownOwner } from '../shown-owner.ts'
import { createUncoveredWatch } from '../uncovered.ts'
import { prepareNetwork } from './bubblewrap-network.ts'
import { forgetProbe, requireBubblewrap, unenforcedBy } from './probe.ts'
import { readReport } from './start-report.ts'
import { encodeStart } from './start-plan.ts'
import { readStatus } from './read-status.ts'
import { prepareTerminal } from './prepare-terminal.ts'
import { openRunState } from '../run-state.ts'
import { policyAsShown, shownPath, mountsAsShown } from '../views/view-mounts.ts'

/** Opens a sandbox that uses bwrap(1). Throws `unavailable` if that can't be done here, and `path-changed` if an entry in `wanted` was replaced. */
export async function openBubblewrap(
  policy: SandboxPolicy,
  options: NetworkOptions = {},
  wanted: readonly Place[] = [],
): Promise<Sandbox> {
  const bubblewrap = await requireBubblewrap()
  const { program, watches, fence: fenceVersion, overlays } = bubblewrap
  const architecture = requireArchitecture('bubblewrap', 'system call filter')
  if (!overlays && policy.views.some(({ over }) => over !== undefined)) {
    const remedy = 'Use Linux 5.11 or newer, and a directory for temporary data that is not an overlay itself.'
    throw new SandboxError('unavailable', { backend: 'bubblewrap', reason: 'no overlays can be mounted', remedy })
  }
  dockerSocketGroup(policy, 'bubblewrap')
  refuseAbstractSockets(policy)
  const networks = await prepareNetwork(policy, options)
  const helper = helperFor(architecture)
  const limits = prepareLimits(policy, { processLimit: process.geteuid?.() !== 0 }, 'bubblewrap')
  const state = openRunState(policy, 'bubblewrap', wanted, (command) => start(command, 'own'), overlays)
  const { held, roots, run, running } = state
  const commandPipes = createPipes(run.path, true)
  const [watchCovered, named, kernel] = [createUncoveredWatch(), networks.mounts(run.path), kernelView(hostFileSystem)]
  let open = true

  /** Starts a command. `whose` is `own` for one of our own programs, which only read what the caller's commands have left behind. */
  const start = (command: Command, whose: 'caller' | 'own' = 'caller'): SandboxProcess => {
    if (!open) throw new SandboxError('closed', { backend: 'bubblewrap' })
    requireDirectory(command.cwd, 'working directory')
    checkTerminal(command)
    commandPipes.prepare()
    const { variables } = commandEnvironment(policy, process.env, command, '/tmp', state.homes)
    const [file, ...rest] = command.argv
    const executable = locateProgram(file, command.cwd, variables['PATH'], policy.views)
    const applied = held.current(policyForCommand(state.policy, command))
    requireSame(applied.workspace, held.identityOf(applied.workspace))
    const layer = whose === 'own' || command.readOnly === true ? undefined : state.takeLayer()
    const { covered, steps, fence } = planAgain(() => {
      const places = { ...state.placesOf(command), layers: layer?.path }
      const host = held.look()
      const mounts = planMounts(applied, places, host)
      const steps = mountSteps([...mountsAsShown(mounts, policy.views), ...named, ...kernel], {
        privateTemp: run.temp,
        emptyDirectory: run.empty,
        runDirectories: (isSeen) => allRunDirectories(places.scratch, isSeen),
        look: (path) => {
          const identity = held.identityOf(path)
          return identity === undefined
            ? lookAtHost(path, host.lstat)
            : { kind: host.kindOf(path) === 'file' ? 'file' : 'directory', identity }
        },
      })
      const fence = planFence(applied, state, places.git.mounts, host)
      return { covered: watchCovered(mounts, host.lstat), steps, fence }
    })
    const network = networks.start(fastForwardIn((git) => start(git, 'own'), [command.cwd, policy.workspace]))
    const cwd = shownPath(realpathSync(command.cwd), policy.views)
    const [limited, input] = [limits.start(), handedInput(command, run.path)]
    const handed = handedCommand([executable, ...rest], run.path, 7 + network.stdio.length)
    const terminal = prepareTerminal(command, 7 + network.stdio.length + handed.stdio.length)
    const report = 7 + network.stdio.length + handed.stdio.length + terminal.stdio.length
    const plan = encodeStart(architecture, {
      steps,
      kept: [...network.kept, ...handed.kept, ...terminal.kept],
      identity: shownOwner(),
      ...{ watches, lowPorts: network.lowPorts, cwd, nullInput: input.isNull },
      variables: { ...variables, PWD: cwd },
      fence,
      fenceVersion,
      filter: {
        sockets: socketAccess[policy.network.mode],
        unixSockets: applied.dockerSocket !== undefined || applied.unixSockets,
      },
    })
    const confinement = bubblewrapArguments({
      network: policy.network.mode === 'full',
      lowPorts: network.lowPorts,
      uncovered: usesSharedMemory(steps) ? [hostSharedMemory] : [],
      helper: 5,
    })
    const options = encodeText(confinement.map((option) => `${option}\0`).join(''))
    const output = commandPipes.open(options, helper, plan)
    const first = [helperInside, 'start', '6', `${report}`]
    const inside = [...first, ...network.inside, ...terminal.inside, ...limited.inside, ...handed.argv]
    const started = [program, '--json-status-fd', '3', '--args', '4', '--', ...inside]
    const child = spawn('/bin/sh', ['-c', limited.script, 'bwrap', ...started], {
      cwd: '/',
      env: {},
      // bwrap gets its own session, so that an interrupt (Ctrl-C in our terminal) reaches this program but not bwrap.
      detached: true,
      stdio: [
        input.stdio,
        output.stdout.descriptor,
        output.stderr.descriptor,
        'pipe',
        ...output.inputs.map((descriptor) => descriptor ?? ('pipe' as const)),
        ...network.stdio,
        ...handed.stdio,
        ...terminal.stdio,
        'pipe',
      ],
    })
    handed.started()
    const pipes: readonly (Readable | Writable | null | undefined)[] = child.stdio
    for (const [index, content] of [options, helper, plan].entries()) send(content, pipes[4 + index])
    const said = readReport(pipes[report])
    network.follow(child)
    const status = readStatus(child.stdio[3] as Readable | null)
    const complaint = keepTail(output.stderr.source)
    const shown = command.terminal === undefined ? complaint : keepTail(output.stdout.source)
    // When the first process of the pid namespace ends, all others end with it, and so does bwrap.
    const destroyInit = (): void => status.whenKnown((initPid) => signal(initPid, 'SIGKILL'))
    let stopped = false
    return supervise({
      ...terminal.connect({ ...startedChild(child, output), stdin: input.started(child.stdin) }, pipes),
      terminate: () => {
        stopped = true
        // SIGTERM reaches the command's whole process group, but the namespace's init ignores it. Until the init exists, no command runs, so the init
        // is killed as soon as it appears.
        if (status.initPid === undefined) destroyInit()
        else signal(-status.initPid, 'SIGTERM')
      },
      destroy: () => {
        stopped = true
        destroyInit()
        // bwrap is killed too: if it still has no init, it is stuck in its own setup.
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      },
      ...commandLimits(policy, command, [...roots, run.temp, run.home]),
      ...(whose === 'own' ? unlimitedOutput : {}),
      signal: command.signal,
      settle: async ({ code, signal: endedBy }, drained) => {
        await status.closed
        if (status.initPid !== undefined) await waitForExit(status.initPid)
        // The command may have ended before its last error messages have been read, and denials are found in these messages.
        await drained()
        layer?.release()
        // A missing exit code doesn't prove that the setup failed: the kernel may have killed bwrap when memory ran out. So an error message of
        // bwrap is required too.
        if (!status.commandRan && !stopped && /^bwrap: /m.test(complaint.text())) {
          forgetProbe()
          throw new SandboxError('setup-failed', { backend: 'bubblewrap', detail: complaint.text().trim() })
        }
        const failure = stopped ? undefined : await said.failure(code)
        if (failure !== undefined) {
          if (failure.code === 'setup-failed') forgetProbe()
          throw failure
        }
        const stderr = shown.text()
        const ended = stopped ? { code: null, signal: null, stderr } : { code, signal: endedBy, stderr }
        const sight = { isOutOfSight: state.isOutOfSight, path: variables['PATH'] }
        const named = denialsFromOutput(policyAsShown(applied), { ...ended, cwd, ...sight }, hostFileSystem)
        const found = [
          ...limited.end(ended),
          ...(whose === 'own' ? [] : covered.uncovered()),
          ...(whose === 'own' || command.readOnly === true ? [] : await state.takeOver()),
          ...network.end(stopped ? '' : complaint.text()),
        ]
        return [
          ...found,
          ...named.filter(({ subject }) => !found.some((known) => known.subject.startsWith(`${subject}:`))),
        ]
      },
    })
  }

  return {
    backend: 'bubblewrap',
    policy,
    unenforced: [...limits.unenforced, ...unenforcedBy(bubblewrap)],
    fence: nameFence(fenceVersion),
    node: [process.execPath],
    shell: hostShell(),
    known: held.known,
    ...(state.hides === undefined ? {} : { hides: state.hides }),
    spawn: (command) => running.add(command, start(command)),
    inspect: async () => capDenials(await state.takeOver()),
    isWriting: () => running.writing > 0,
    close: async () => {
      open = false
      await state.endCommands()
      limits.close()
      commandPipes.close()
      await state.close()
    },
  }
}

const socketAccess = { off: 'loopback', allowlist: 'loopback', full: 'internet' } as const

function send(data: Uint8Array, pipe: Readable | Writable | null | undefined): void {
  if (!(pipe instanceof Writable)) return
  // The error is ignored: if bwrap ends before it has read everything, its exit code is more informative than this pipe's error.
  pipe.on('error', () => undefined)
  pipe.end(data)
}
