import process from 'node:process'
import { realpathSync } from '../host-paths.ts'
import { capDenials } from '../denials/cap.ts'
import { fastForwardIn } from '../credentials/fast-forward.ts'
import { denialsFromOutput } from '../denials/from-output.ts'
import { commandEnvironment } from '../environment.ts'
import { dockerSocketGroup } from '../docker-socket.ts'
import { SandboxError } from '../sandbox-error.ts'
import { hostFileSystem } from '../file-system-view.ts'
import type { Place } from '../held-place.ts'
import { unlimitedOutput } from '../git/pack.ts'
import { planLimits, unlimitedWatches } from '../limits/plan-limits.ts'
import type { GroupCounts } from '../limits/groups.ts'
import { provenBetween } from '../limits/prepare.ts'
import { inferExceededLimits } from '../limits/infer-exceeded-limits.ts'
import { commandLimits } from '../limits/watched.ts'
import { policyForCommand } from '../command-policy.ts'
import type { NetworkOptions } from '../network/proxy.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import { supervise } from '../process/supervise.ts'
import { keepTail } from '../process/tail.ts'
import { requireDirectory } from '../locate-program.ts'
import { checkTerminal, keyboard, terminalThrough } from '../terminal/connect-terminal.ts'
import { writableRoots } from '../roots.ts'
import type { Command, Sandbox, SandboxProcess } from '../sandbox.ts'
import type { WarmContainer } from './client.ts'
import { checkDaemon, requireImage } from './daemon.ts'
import { prepareNetwork } from './container-network.ts'
import { containerNode } from './own-node.ts'
import { passOwnInput } from './own-input.ts'
import { relayLater } from './relay-later.ts'
import { reapContainers } from './reap.ts'
import { unenforcedWith } from '../second-fence.ts'
import { prepareStarts } from './container-starts.ts'
import { tryContainer } from './try-container.ts'
import { openRunState } from '../run-state.ts'
import { createContainers } from './containers.ts'
import { cannotStart, requireText, setupFailed } from './failures.ts'
import { policyAsShown } from '../views/view-mounts.ts'
import { shownPath } from '../views/view-paths.ts'

/**
 * Opens a sandbox that runs commands in containers of the given image, and keeps containers ready for later commands. Each container runs one command
 * at a time. Therefore everything that the command leaves running can be killed, and the container's limits apply only to that command. Throws
 * `unavailable` if no daemon answers, if the daemon doesn't have the image, or if it can't enforce the policy.
 */
export async function openDocker(
  policy: SandboxPolicy,
  image: string | undefined,
  options: NetworkOptions = {},
  wanted: readonly Place[] = [],
): Promise<Sandbox> {
  if ([...writableRoots(policy, hostFileSystem), policy.workspace, ...policy.readableRoots].includes('/')) {
    throw new SandboxError('unavailable', {
      backend: 'docker',
      reason: "one of the policy's roots is /, but in a container that directory comes from the image",
      remedy: 'Instead of /, name the directories that commands need.',
    })
  }
  const node = containerNode()
  const socketGroup = dockerSocketGroup(policy, 'docker')
  const { docker, identity } = await checkDaemon()
  const { user } = identity
  const named = await requireImage(docker, image)
  const limits = planLimits(policy, { groups: true, processLimit: false, cpus: true }, 'docker')
  await reapContainers(docker)
  const state = openRunState(policy, 'docker', wanted, (command) => start(command, 'own'))
  const { held, roots, run, running } = state
  const shown = (path: string): string => shownPath(path, policy.views)
  let open = true

  const starts = prepareStarts(process.arch === 'arm64' ? 'arm64' : 'x64', run.path, held.identityOf)
  const prepare = async (): Promise<ReturnType<typeof prepareNetwork>> => {
    try {
      return prepareNetwork(policy, run.path, starts, options)
    } catch (error) {
      await state.close()
      throw error
    }
  }
  const networks = await prepare()

  const containers = createContainers(docker, policy, state, {
    image: named,
    identity,
    limits,
    starts,
    network: networks.plan,
    socketGroup,
    shown: node.shown,
  })

  /** Starts a command in a container. `whose` is `own` for our own programs, which only read files that commands have left behind. */
  const start = (command: Command, whose: 'caller' | 'own' = 'caller'): SandboxProcess => {
    if (!open) throw new SandboxError('closed', { backend: 'docker' })
    requireDirectory(command.cwd, 'working directory')
    checkTerminal(command)
    const directory = requireText(shown(realpathSync(command.cwd)))
    const planned = containers.plan(command)
    const { PATH: _, HOME: __, ...inherited } = process.env
    const { variables } = commandEnvironment(policy, inherited, command)
    const network = networks.start(fastForwardIn((git) => start(git, 'own'), [command.cwd, policy.workspace]))
    const wrapped = starts.wrap(command)
    let container: WarmContainer | undefined
    let spoiled = false
    let atFirst: GroupCounts | undefined
    let atLast: GroupCounts | undefined
    const spoil = (): void => {
      spoiled = true
      // The counts are read before the container is removed, because they disappear with it.
      atLast ??= container?.counts?.()
      void container?.remove().catch(() => undefined)
    }
    const output = relayLater(command.terminal, async () => {
      const { before, cwd } = await network.enter(directory)
      container = await containers.take(planned)
      atFirst = container.counts?.()
      if (spoiled) spoil()
      return container.exec({
        argv: [...planned.check, ...before, ...wrapped.argv],
        cwd,
        // The image sets its own PATH, and the caller's home directory doesn't exist in the image.
        variables: { HOME: '/tmp', ...variables },
        user,
        stdin: command.stdin === 'pipe' || command.stdin === 'inherit' || command.terminal !== undefined,
        terminal: command.terminal !== undefined,
      })
    })
    const stopInput = command.stdin === 'inherit' ? passOwnInput(output.stdin) : () => undefined
    const complaint = keepTail(command.terminal === undefined ? output.stderr : output.stdout)
    return supervise({
      pid: undefined,
      stdin:
        command.terminal !== undefined ? keyboard(output.stdin) : command.stdin === 'pipe' ? output.stdin : undefined,
      stdout: output.stdout,
      stderr: output.stderr,
      terminal: command.terminal === undefined ? undefined : terminalThrough(output.resize),
      exit: output.code.then(
        (code) => ({ code, signal: null }),
        (error: unknown) => {
          // The container was removed in order to kill the command, so no exit code will arrive.
          if (spoiled) return { code: null, signal: 'SIGKILL' }
          spoil()
          return { code: null, signal: null, error: setupFailed(error) }
        },
      ),
      release: () => {
        network.release()
        stopInput()
        wrapped.remove()
      },
      terminate: () => {
        if (container === undefined) spoil()
        else void container.signal('TERM').catch(spoil)
      },
      destroy: spoil,
      ...commandLimits(policy, command, [...roots, run.temp]),
      ...(whose === 'own' ? unlimitedOutput : {}),
      signal: command.signal,
      settle: async ({ code }) => {
        const changed = starts.failure(complaint.text())
        if (changed !== undefined) {
          spoil()
          await network.end('', true)
          throw new SandboxError('path-changed', { backend: 'docker', path: changed })
        }
        let left = false
        // The shell around the command may have been killed before it could kill the remaining processes.
        if (container !== undefined && !spoiled && !(await container.empty())) {
          atLast ??= container.counts?.()
          left = true
          await container.remove()
        }
        const { denials: refused, free } = await network.end(complaint.text(), spoiled).catch((error: unknown) => {
          spoil()
          throw error
        })
        if (!free) spoil()
        atLast ??= container?.counts?.()
        if (container !== undefined && !spoiled && !left) {
          containers.giveBack(planned, container)
        }
        if (running.size <= 1) await containers.dropStale()
        const ended = { code: spoiled ? null : code, signal: null, stderr: complaint.text() }
        const applied = policyAsShown(policyForCommand(policy, command))
        const said = denialsFromOutput(applied, { ...ended, cwd: shown(command.cwd) }, hostFileSystem)
        const counted = provenBetween(limits, atFirst, atLast)
        const found = [
          ...(counted ?? []),
          ...inferExceededLimits(limits, ended, counted !== undefined),
          ...(whose === 'own' ? [] : planned.uncovered()),
          ...(whose === 'own' || command.readOnly === true ? [] : await state.takeOver()),
          ...refused,
        ]
        return [
          ...found,
          ...said.filter(({ subject }) => !found.some((known) => known.subject.startsWith(`${subject}:`))),
        ]
      },
    })
  }

  const first: Command = { argv: ['true'], cwd: policy.workspace }
  let found: Awaited<ReturnType<typeof tryContainer>>
  try {
    const planned = containers.plan(first)
    const container = await containers.take(planned).catch((error: unknown) => {
      throw cannotStart(error)
    })
    containers.giveBack(planned, container)
    const [{ filtered }, { fence }] = [networks.plan, starts]
    const [places, workspace] = [roots.map(shown), shown(policy.workspace)]
    found = await tryContainer(container, { user, filtered, fence, roots: places, workspace, privateTemp: run.temp })
  } catch (error) {
    await containers.dropAll()
    await state.close()
    throw error
  }

  return {
    backend: 'docker',
    policy,
    // The inotify limits belong to the user namespace, which containers share with the host.
    unenforced: [...limits.unenforced, unlimitedWatches, ...unenforcedWith(found.fence)],
    node: node.words,
    ...found,
    known: held.known,
    spawn: (command) => running.add(command, start(command)),
    inspect: async () => capDenials(await state.takeOver()),
    isWriting: () => running.writing > 0,
    close: async () => {
      open = false
      await state.endCommands()
      await containers.dropAll()
      await state.close()
    },
  }
}
