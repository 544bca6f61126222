import { realpathSync } from 'node:fs'
import process from 'node:process'
import { capDenials } from '../denials/cap.ts'
import { denialsFromOutput } from '../denials/from-output.ts'
import { commandEnvironment } from '../environment.ts'
import { dockerSocketGroup } from '../docker-socket.ts'
import { SandboxError } from '../errors.ts'
import { hostFileSystem } from '../file-system-view.ts'
import type { Place } from '../held-place.ts'
import { holdPlaces } from '../held-places.ts'
import { createMetadataGuard } from '../git/guard.ts'
import { packWith, unlimitedOutput } from '../git/pack.ts'
import { openPrivateGit } from '../git/private-git.ts'
import { createTrustRecord } from '../git/trust-record.ts'
import { planLimits, type LimitPlan } from '../limits/plan.ts'
import type { GroupCounts } from '../limits/groups.ts'
import { provenLimits } from '../limits/prepare.ts'
import { suspectLimits } from '../limits/suspect.ts'
import { commandLimits } from '../limits/watched.ts'
import { holdInstallation } from '../installation/hold.ts'
import { createKeyFileView } from '../key-file-view.ts'
import { planMounts } from '../mounts.ts'
import { placesFor, policyFor } from '../narrow.ts'
import { ownerName } from '../owner.ts'
import type { NetworkOptions } from '../network/proxy.ts'
import type { SandboxPolicy } from '../policy.ts'
import { RunningCommands } from '../process/running-commands.ts'
import { supervise } from '../process/supervise.ts'
import { keepTail } from '../process/tail.ts'
import { requireDirectory } from '../program.ts'
import { checkTerminal, keyboard, terminalThrough } from '../terminal/connect.ts'
import { deniedBelow, protectedBelow, writableRoots } from '../roots.ts'
import { makeRunDirectory, removeRunDirectory } from '../run-directory.ts'
import type { Command, Denial, Sandbox, SandboxProcess } from '../sandbox.ts'
import { createUncoveredWatch } from '../uncovered.ts'
import type { Shell } from '../shell.ts'
import type { WarmContainer } from './client.ts'
import { checkDaemon, requireImage } from './daemon.ts'
import { prepareNetwork } from './network.ts'
import { containerNode } from './own-node.ts'
import { passOwnInput } from './own-input.ts'
import { relayLater } from './relay-later.ts'
import { boundMounts, planContainer, type ContainerPlan } from './plan.ts'
import { reapContainers } from './reap.ts'
import { prepareStarts } from './start.ts'
import { tryContainer } from './try-container.ts'

/** Runs the command, which alone a terminal interrupts, then ends whatever it left: `kill -1` spares only this shell and the container's first process. */
const wrapper = 'trap : TERM INT QUIT; "$@"; code=$?; kill -KILL -1 2>/dev/null; exit $code'

/** What one command needs of a container. */
type Planned = {
  readonly container: ContainerPlan
  /** The words to put before its own, which check what is mounted. */
  readonly check: readonly string[]
  /** Equal for commands that may share one. */
  readonly key: string
  /** What came to be seen of what is hidden, and to be writable. */
  readonly uncovered: () => readonly Denial[]
}

/** A terminal has no size before the daemon is told, which would be too late for a command that asks at once. */
function firstSize({ terminal }: Command): string {
  return terminal === undefined ? '' : `stty rows ${terminal.rows} cols ${terminal.columns} 2>/dev/null; `
}

/**
 * Confines commands in containers of the image given: warm ones, each for one command at a time, so that everything left in it
 * can be killed and its limits are one command's. Throws `unavailable` when no daemon answers, or it can't enforce the policy.
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
      reason: 'a root is /, where a container has its image',
      remedy: 'Name the directories that commands need.',
    })
  }
  const node = containerNode()
  const socketGroup = dockerSocketGroup(policy, 'docker')
  const { docker, identity } = await checkDaemon()
  const { user } = identity
  const named = await requireImage(docker, image)
  const limits = planLimits(policy, { groups: true, processLimit: false, cpus: true }, 'docker')
  await reapContainers(docker)
  const held = holdPlaces(policy, 'docker', wanted)
  const roots = writableRoots(policy, held.view)
  const run = makeRunDirectory(roots, 'docker')
  const guard = createMetadataGuard(roots, protectedBelow(roots, policy), createTrustRecord(run.path, 'docker'))
  const installation = holdInstallation(roots)
  const running = new RunningCommands(guard.rest)
  const workspace = realpathSync.native(policy.workspace)
  const privateGit = openPrivateGit({
    roots,
    workspace,
    directory: run.path,
    denied: () => deniedBelow(policy, roots, held.view),
  })
  const keyFiles = createKeyFileView(run.path, [workspace, ...roots])
  // While none could write, what has changed is the host's own work.
  const review = async (ended: boolean): Promise<readonly Denial[]> => {
    if (running.writing === 0) return []
    const refused = await privateGit.takeOver(packWith((command) => start(command, 'own')))
    const ours = installation.putBack(ended && running.writing === 1)
    return [...refused, ...guard.review(), ...held.putBack(), ...ours]
  }
  // What is protected may change as repositories come and go, and a container's mounts can't.
  const warm = new Map<string, WarmContainer[]>()
  const watchCovered = createUncoveredWatch()
  let open = true

  const prepare = async (): Promise<ReturnType<typeof prepareNetwork>> => {
    try {
      return prepareNetwork(policy, run.path, options)
    } catch (error) {
      await removeRunDirectory(run.path)
      throw error
    }
  }
  const networks = await prepare()
  const starts = prepareStarts(process.arch === 'arm64' ? 'arm64' : 'x64', run.path, held.identityOf)

  // The latest plan for commands that write, and for those that don't.
  const current = new Map<boolean, string>()

  const plan = (command: Command): Planned => {
    const places = placesFor(command, guard, privateGit, running, roots, keyFiles)
    const applied = held.current(policyFor(policy, command))
    const mounts = planMounts(applied, places, held.view)
    const directories = { privateTemp: run.temp, emptyDirectory: run.empty }
    const container = planContainer(applied, {
      image: named,
      owner: ownerName(process.pid),
      identity,
      mounts,
      limits,
      ...directories,
      starts,
      network: networks.plan,
      socketGroup,
      shown: node.shown,
    })
    const bound = boundMounts(mounts, directories)
    const check = starts.check(bound)
    // One whose mounts have come off, as when the host replaces a file, is none of these.
    const { stamp, uncovered } = watchCovered(mounts.filter(({ path }) => bound.some(({ target }) => target === path)))
    return { container, check, key: JSON.stringify([container, check, stamp]), uncovered }
  }

  const take = async ({ container, key }: Planned): Promise<WarmContainer> =>
    warm.get(key)?.pop() ?? docker.start(container, networks.plan.filtered)

  /** @param whose `own` for a program of ours, which only reads what commands left */
  const start = (command: Command, whose: 'caller' | 'own' = 'caller'): SandboxProcess => {
    if (!open) throw new SandboxError('closed', { backend: 'docker' })
    requireDirectory(command.cwd, 'working directory')
    checkTerminal(command)
    const wanted = plan(command)
    const { key, check, uncovered } = wanted
    current.set(command.readOnly === true, key)
    const { PATH: _, HOME: __, ...inherited } = process.env
    const { variables } = commandEnvironment(policy, inherited, command)
    const network = networks.start()
    let container: WarmContainer | undefined
    let spoiled = false
    let atFirst: GroupCounts | undefined
    let atLast: GroupCounts | undefined
    const spoil = (): void => {
      spoiled = true
      // What is counted goes with the container.
      atLast ??= container?.counts?.()
      void container?.remove().catch(() => undefined)
    }
    const output = relayLater(command.terminal, async () => {
      const { before, cwd } = await network.enter(realpathSync.native(command.cwd))
      container = await take(wanted)
      atFirst = container.counts?.()
      if (spoiled) spoil()
      return container.exec({
        argv: [...check, ...before, '/bin/sh', '-c', `${firstSize(command)}${wrapper}`, 'sh', ...command.argv],
        cwd,
        // The image knows its own PATH, and the caller's home isn't in it.
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
          // A container that was removed to end its command takes the answer with it.
          if (spoiled) return { code: null, signal: 'SIGKILL' }
          spoil()
          return { code: null, signal: null, error: setupFailed(error) }
        },
      ),
      release: () => {
        network.release()
        stopInput()
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
        // The shell around it can be killed before it has ended the rest.
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
          warm.set(key, [...(warm.get(key) ?? []), container])
        }
        if (running.size <= 1) await dropStale([...current.values()])
        const ended = { code: spoiled ? null : code, signal: null, stderr: complaint.text() }
        const said = denialsFromOutput(policyFor(policy, command), { ...ended, cwd: command.cwd }, hostFileSystem)
        const counted = provenBetween(limits, atFirst, atLast)
        const found = [
          ...(counted ?? []),
          ...suspectLimits(limits, ended, counted !== undefined),
          ...(whose === 'own' ? [] : uncovered()),
          ...(whose === 'own' || command.readOnly === true ? [] : await review(true)),
          ...refused,
        ]
        return [
          ...found,
          ...said.filter(({ subject }) => !found.some((known) => known.subject.startsWith(`${subject}:`))),
        ]
      },
    })
  }

  /** Containers whose mounts no longer are what the policy asks for. */
  const dropStale = async (keep: readonly string[]): Promise<void> => {
    for (const [other, containers] of warm) {
      if (keep.includes(other)) continue
      warm.delete(other)
      await Promise.all(containers.map((container) => container.remove()))
    }
  }

  const first: Command = { argv: ['true'], cwd: policy.workspace }
  let shell: Shell
  try {
    const planned = plan(first)
    const container = await take(planned).catch((error: unknown) => {
      throw cannotStart(error)
    })
    warm.set(planned.key, [container])
    current.set(false, planned.key)
    const { filtered } = networks.plan
    shell = await tryContainer(container, { user, filtered, roots, workspace: policy.workspace, privateTemp: run.temp })
    guard.rest()
  } catch (error) {
    await dropStale([])
    await removeRunDirectory(run.path)
    throw error
  }

  return {
    backend: 'docker',
    policy,
    unenforced: limits.unenforced,
    node: node.words,
    shell,
    known: held.known,
    spawn: (command) => running.add(command, start(command)),
    inspect: async () => capDenials(await review(false)),
    close: async () => {
      open = false
      await running.endAll()
      installation.putBack(true)
      await dropStale([])
      privateGit.close()
      held.close()
      await removeRunDirectory(run.path)
    },
  }
}

/** The limits that the kernel's counts tell of; undefined where they aren't known. */
function provenBetween(
  { group }: LimitPlan,
  before: GroupCounts | undefined,
  after: GroupCounts | undefined,
): readonly Denial[] | undefined {
  return group === undefined || before === undefined || after === undefined
    ? undefined
    : provenLimits(group, before, after)
}

/** Why the daemon makes no container for a policy, which it is asked for before any command. */
function cannotStart(error: unknown): SandboxError {
  const detail = error instanceof Error ? error.message : String(error)
  const missing = /bind source path does not exist: (?<path>\S+)/.exec(detail)?.groups?.['path']
  return new SandboxError(
    'unavailable',
    missing === undefined
      ? {
          backend: 'docker',
          reason: `its daemon can't start a container for this policy: ${detail}`,
          remedy: 'The image must have /bin/sh, and the daemon must be able to mount the directories of the policy.',
        }
      : {
          backend: 'docker',
          reason: `the machine of its daemon has no ${missing}`,
          remedy: 'Use a daemon on this machine, or one on which the workspace and TMPDIR have the same paths.',
        },
    { cause: error },
  )
}

function setupFailed(error: unknown): SandboxError {
  const detail = error instanceof Error ? error.message : String(error)
  return new SandboxError('setup-failed', { backend: 'docker', detail }, { cause: error })
}
