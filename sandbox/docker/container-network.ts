// execa isn't used here, because the relay sends us a socket through Node's own channel, and because a relay is started for each command.
import { spawn } from 'node:child_process'
import { Server } from 'node:net'
import { join } from 'node:path'
import type { FastForward } from '../credentials/read-content.ts'
import { mkdirSync, rmSync, writeFileSync } from '../host-paths.ts'
import { SandboxError } from '../sandbox-error.ts'
import { requireArchitecture } from '../helper/helper.ts'
import { hasNames, plainHosts, writeHosts } from '../network/hosts-file.ts'
import { directoryMissing, listenerFailed, openPorts } from '../network/inside.ts'
import { createProxy, type NetworkOptions } from '../network/proxy.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Denial } from '../sandbox.ts'
import { compileFilter } from '../seccomp/compile.ts'
import { filterRules } from '../seccomp/rules.ts'
import { helperInside, type Starts } from './container-starts.ts'

/** The network of one sandbox's containers. */
type ContainerNetwork = {
  /** What has to be added to the containers so that they can use the network. */
  readonly plan: NetworkPlan
  /** Creates the network for one command. */
  start(isFastForward?: FastForward): CommandNetwork
}

/** What a container needs for its network. Without an allow-list, services and credentials, it needs nothing: the paths are undefined and `filtered` is empty. */
export type NetworkPlan = {
  /** The directory on the host that is mounted read-only at `shownAt`. It has the filter, and the relays' sockets. */
  readonly directory: string | undefined
  /** The file on the host that is mounted at `/etc/hosts`; undefined if no service has a name. */
  readonly hosts: string | undefined
  /**
   * The arguments to put before our own programs in the container, so that these run under the system call filter. Commands get theirs from `enter`.
   */
  readonly filtered: readonly string[]
}

/** Where containers see the filter and the relays' sockets. It is in `/dev`, because every container gets a new `/dev`. */
export const shownAt = '/dev/portcullis'

type CommandNetwork = {
  /**
   * Prepares the network for a command that is to start in `cwd`. Returns the arguments to put before the command's own arguments, and the directory
   * in which to start it. Rejects with the reason if this fails.
   */
  enter(cwd: string): Promise<{ readonly before: readonly string[]; readonly cwd: string }>
  /**
   * Ends all connections. Returns the denied connections, and whether the ports are free for the next command. If `complaint`, the command's standard
   * error, says that the command never started because a port couldn't be opened or the working directory was missing, this function rejects with
   * `setup-failed`. That doesn't apply if the command was `stopped` together with its container, because it may then have ended before the ports were
   * opened.
   */
  end(complaint: string, stopped: boolean): Promise<{ readonly denials: readonly Denial[]; readonly free: boolean }>
  /** Removes everything that belongs to this network. Call this no matter how the command ended. */
  release(): void
}

const nothing: CommandNetwork = {
  enter: async (cwd) => ({ before: [], cwd }),
  end: async () => ({ denials: [], free: true }),
  release: () => undefined,
}

/** How many milliseconds to wait, after a command has ended, for its listening sockets to arrive. There is no wait if the command was stopped. */
const arrivalMs = 1000

/** The descriptor of the relay's channel: Node's `ipc`, which comes after the three standard descriptors. */
const channel = 3

/**
 * Prepares the network. Its files are in `run`, the sandbox's own directory, which commands can't reach. The proxy exists only if the policy has an
 * allow-list, services or credentials. Throws `unavailable` on a processor that our programs don't support.
 *
 * A container has no network except its own loopback. Before each command, the helper creates listening sockets in the container and passes them to the
 * engine through a unix socket. The engine itself then answers the command's connections. The container's profile therefore has to permit
 * unix sockets, but each command also runs under the system call filter that bubblewrap's commands get, which forbids them. The helper's file can
 * be executed but not read. Other processes can't inspect a process that runs such a file (proc(5), "dumpable"), so no process can tamper with it
 * before the filter is installed.
 */
export function prepareNetwork(
  policy: SandboxPolicy,
  run: string,
  { helper }: Pick<Starts, 'helper'>,
  options: NetworkOptions,
): ContainerNetwork {
  const ports = openPorts(policy)
  const { network, services, credentials } = policy
  if (ports.length === 0) {
    return { plan: { directory: undefined, hosts: undefined, filtered: [] }, start: () => nothing }
  }
  const architecture = requireArchitecture('docker', 'network allow-list')
  const proxy = createProxy(network.mode === 'allowlist' ? network.allow : [], options, services, credentials)
  const filter = compileFilter(
    filterRules('loopback', policy.dockerSocket !== undefined || policy.unixSockets),
    architecture,
  )
  const directory = join(run, 'network')
  mkdirSync(directory, { mode: 0o700 })
  writeFileSync(join(directory, 'filter'), filter, { mode: 0o444 })
  const hosts = hasNames(policy) ? writeHosts(policy, plainHosts, directory) : undefined
  const filterInside = join(shownAt, 'filter')
  let commands = 0
  return {
    plan: { directory, hosts, filtered: [helperInside, 'filter', filterInside] },
    start: (isFastForward) => {
      commands += 1
      const name = `${commands}`
      const session = proxy.startSession(isFastForward)
      const arrived = Promise.withResolvers<true>()
      let relay: ReturnType<typeof startRelay> | undefined
      return {
        enter: async (cwd) => {
          mkdirSync(join(directory, name), { mode: 0o700 })
          let missing = ports.length
          relay = startRelay(helper, join(directory, name), ports.length, (server) => {
            session.attach(server)
            missing -= 1
            if (missing === 0) arrived.resolve(true)
          })
          await relay.ready
          const before = [helperInside, 'enter', filterInside, cwd, ...[ports.length, ...ports].map(String)]
          return { before, cwd: join(shownAt, name) }
        },
        end: async (complaint, stopped) => {
          const free = await within(stopped ? 0 : arrivalMs, arrived.promise)
          if (!free && !stopped && [listenerFailed, directoryMissing].some((text) => complaint.includes(text))) {
            throw new SandboxError('setup-failed', { backend: 'docker', detail: complaint.trim() })
          }
          return { denials: session.end(), free }
        },
        release: () => {
          session.end()
          relay?.end()
          rmSync(join(directory, name), { recursive: true, force: true })
        },
      }
    },
  }
}

/** Starts the helper that receives `count` listening sockets through a unix socket in `directory`; `ready` rejects if that fails. */
function startRelay(
  helper: string,
  directory: string,
  count: number,
  arrived: (server: Server) => void,
): { readonly ready: Promise<void>; readonly end: () => void } {
  const child = spawn(helper, ['relay', `${channel}`, `${count}`], {
    cwd: directory,
    env: {},
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  child.on('message', (_message, handle) => {
    if (handle instanceof Server) arrived(handle)
  })
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve())
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the relay of the network allow-list failed with error ${code}`)))
  })
  return { ready, end: () => void child.kill('SIGKILL') }
}

/** Whether `awaited` resolves before the time is up; always true if it has already resolved. */
async function within(milliseconds: number, awaited: Promise<true>): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(() => late.resolve(false), milliseconds)
  const first = await Promise.race([awaited, late.promise])
  clearTimeout(timer)
  return first
}
