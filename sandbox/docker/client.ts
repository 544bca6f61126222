import { type Duplex, PassThrough, type Readable, type Writable } from 'node:stream'
import type Docker from 'dockerode'
import * as z from 'zod'
import { countsOfProcess, populationOfProcess, type GroupCounts } from '../limits/groups.ts'
import { demultiplex } from './demultiplex.ts'
import type { TerminalSize } from '../sandbox.ts'
import type { ContainerPlan } from './plan-container.ts'

/** A running container, which runs one command at a time. */
export type WarmContainer = {
  readonly id: string
  /** Returns the kernel's counts of the resources that the container has used; undefined if they can't be read on this machine. */
  readonly counts: (() => GroupCounts) | undefined
  exec(command: ContainerCommand): ContainerProcess
  /** Sends a signal to every process except the container's first. */
  signal(name: 'TERM' | 'KILL'): Promise<void>
  /** Waits until only the container's first process is left, or kills the others if they can't be counted. Returns false if others keep running. */
  empty(): Promise<boolean>
  /** Kills everything that runs in the container, and removes the container. */
  remove(): Promise<void>
}

type ContainerCommand = {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  readonly user: string
  readonly stdin: boolean
  /** Whether to run the command in a terminal in the container. The terminal's input is then `stdin`, and its output is `stdout`. */
  readonly terminal: boolean
}

export type ContainerProcess = {
  /** Changes the size of the command's terminal. Does nothing if the command has already ended. */
  resize(size: TerminalSize): void
  readonly stdin: PassThrough | undefined
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves with the exit code. Rejects if the daemon couldn't start the command, or stopped answering. */
  readonly code: Promise<number>
}

/** The fields of the daemon's answer to an `info` request that are used here. */
const Info = z.object({
  SecurityOptions: z.array(z.string()).nullish(),
  MemoryLimit: z.boolean().nullish(),
  PidsLimit: z.boolean().nullish(),
})

/** The fields of the daemon's answer to a `version` request that distinguish podman from docker. */
const Version = z.object({ Components: z.array(z.object({ Name: z.string() })).nullish() })

/** The facts about a daemon that decide how containers are created. */
export type DaemonFacts = {
  /** Whether the daemon runs with an ordinary user's rights. Root in a container is then that user on the host. */
  readonly rootless: boolean
  readonly podman: boolean
  readonly remapsUsers: boolean
  /** Whether the daemon can limit memory and the number of processes. */
  readonly limits: boolean
}

export type DockerClient = {
  /** Returns facts about the daemon; rejects if it doesn't answer. */
  info(): Promise<DaemonFacts>
  hasImage(image: string): Promise<boolean>
  /** Lists the containers that have this label, each with its owner, which is the label's value. */
  owned(label: string): Promise<readonly { readonly id: string; readonly owner: string }[]>
  remove(id: string): Promise<void>
  /** Starts a container. `filtered`: the arguments that come before our own programs, so that these also run under the system call filter. */
  start(plan: ContainerPlan, filtered: readonly string[]): Promise<WarmContainer>
}

/** Returns a client for the daemon that `DOCKER_HOST` names or, if it isn't set, for the local daemon. */
export async function connectDocker(): Promise<DockerClient> {
  // The library is loaded only when docker is used.
  const { default: Client } = await import('dockerode')
  const docker = new Client()
  return {
    info: async () => {
      const info = Info.parse(await docker.info())
      const options = info.SecurityOptions ?? []
      const rootless = options.some((option) => option.startsWith('name=rootless'))
      // Whether a daemon is podman matters only if it is rootless, so only rootless daemons are asked.
      const { Components } = rootless ? Version.parse(await docker.version()) : { Components: [] }
      return {
        rootless,
        podman: Components?.some(({ Name }) => Name.startsWith('Podman')) === true,
        remapsUsers: options.some((option) => option.startsWith('name=userns')),
        limits: info.MemoryLimit === true && info.PidsLimit === true,
      }
    },
    hasImage: async (image) => {
      try {
        await docker.getImage(image).inspect()
        return true
      } catch (error) {
        if (statusOf(error) === 404) return false
        throw error
      }
    },
    owned: async (label) => {
      const found = await docker.listContainers({ all: true, filters: { label: [label] } })
      return found.map(({ Id, Labels }) => ({ id: Id, owner: Labels[label] ?? '' }))
    },
    remove: async (id) => removeContainer(docker.getContainer(id)),
    start: async (plan, filtered) => startContainer(docker, plan, filtered),
  }
}

async function startContainer(
  docker: Docker,
  plan: ContainerPlan,
  filtered: readonly string[],
): Promise<WarmContainer> {
  const container = await docker.createContainer(plan)
  // The container's first process reads this stream and exits when the stream ends. So the container doesn't outlive this program.
  const lifeline = await container.attach({ stream: true, stdin: true, stdout: false, stderr: false, hijack: true })
  lifeline.on('error', () => undefined)
  const remove = async (): Promise<void> => {
    lifeline.end()
    await removeContainer(container)
  }
  const { State } = await startedState(container).catch(async (error: unknown) => {
    // A container that never started isn't removed automatically, and its stream (in fact a socket) would keep this process alive.
    ;(lifeline as Duplex).destroy()
    await remove().catch(() => undefined)
    throw error
  })
  const population = populationOfProcess(State.Pid, container.id)
  const signal = async (name: 'TERM' | 'KILL'): Promise<void> => {
    const argv = [...filtered, '/bin/sh', '-c', `kill -${name} -1`]
    const exec = await container.exec({ Cmd: argv, AttachStdout: true })
    const stream = await exec.start({})
    stream.resume()
    await new Promise<void>((resolve) => stream.once('close', resolve))
  }
  return {
    id: container.id,
    counts: countsOfProcess(State.Pid, container.id),
    exec: (command) => execInContainer(container, command),
    signal,
    empty: async () => {
      if (population !== undefined) return isEmptied(population)
      // The processes can't be counted from here, for example because the daemon is on another machine, so they are killed.
      await signal('KILL')
      return true
    },
    remove,
  }
}

async function startedState(container: Docker.Container): Promise<Docker.ContainerInspectInfo> {
  await container.start()
  return container.inspect()
}

/** How many milliseconds the killed processes of a container may take to end. */
const dyingMs = 50

/** Waits briefly for the container's first process to be the only one left. Returns false if other processes keep running. */
async function isEmptied(population: () => number): Promise<boolean> {
  for (const end = performance.now() + dyingMs; population() !== 1;) {
    if (performance.now() > end) return false
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return true
}

function execInContainer(container: Docker.Container, command: ContainerCommand): ContainerProcess {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const stdin = command.stdin ? new PassThrough() : undefined
  const { terminal } = command
  let wanted: TerminalSize | undefined
  let tell: (() => void) | undefined
  const code = (async () => {
    try {
      const exec = await container.exec({
        Cmd: [...command.argv],
        Env: Object.entries(command.variables).map(([name, value]) => `${name}=${value}`),
        WorkingDir: command.cwd,
        User: command.user,
        AttachStdin: command.stdin,
        AttachStdout: true,
        AttachStderr: true,
        Tty: terminal,
      })
      const stream = await exec.start({ hijack: true, stdin: command.stdin, Tty: terminal })
      // A terminal has only one output, so there are no streams to separate.
      if (!terminal) demultiplex(stream, stdout, stderr)
      else stream.pipe(stdout, { end: false })
      tell = resizeInOrder(exec, () => wanted)
      tell()
      if (stdin !== undefined) stdin.pipe(stream as Writable)
      await new Promise<void>((resolve) => {
        stream.once('end', resolve)
        stream.once('close', resolve)
        stream.once('error', () => resolve())
      })
      for (;;) {
        const { Running, ExitCode } = await exec.inspect()
        if (!Running) return ExitCode ?? 1
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    } finally {
      stdout.end()
      stderr.end()
    }
  })()
  const resize = (size: TerminalSize): void => {
    wanted = size
    tell?.()
  }
  return { stdin, stdout, stderr, code, resize }
}

/**
 * Keeps a terminal at the size that `wanted` returns. Call the returned function whenever that size has changed. Each request is sent only after the
 * previous one has been answered, because the daemon may carry out concurrent requests in any order.
 */
function resizeInOrder(exec: Docker.Exec, wanted: () => TerminalSize | undefined): () => void {
  let told: TerminalSize | undefined
  let telling = false
  return () => {
    if (telling) return
    telling = true
    void (async () => {
      for (let size = wanted(); size !== undefined && size !== told; size = wanted()) {
        told = size
        await exec.resize({ h: size.rows, w: size.columns }).catch(() => undefined)
      }
      telling = false
    })()
  }
}

async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await container.remove({ force: true })
  } catch (error) {
    // The container has already been removed, or the daemon is removing it.
    if (![404, 409].includes(statusOf(error) ?? 0)) throw error
  }
}

function statusOf(error: unknown): number | undefined {
  return z.object({ statusCode: z.number() }).safeParse(error).data?.statusCode
}
