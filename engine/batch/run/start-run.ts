import { join } from 'node:path'
import { execa } from 'execa'
import { runMessage, type RunMessage, type SupervisorMessage } from './supervisor-messages.ts'

/** How a supervisor starts `agent`. */
export type AgentProgram = {
  /** Node, and the program that it runs. */
  readonly argv: readonly [string, ...string[]]
  readonly environment: Readonly<NodeJS.ProcessEnv>
}

/** A run in a process of its own. */
export type RunningRun = {
  readonly pid: number | undefined
  /** Its exit code; undefined if it was killed. */
  readonly ended: Promise<number | undefined>
  /** Makes it end cleanly. */
  readonly interrupt: () => void
  /** Ends it at once. */
  readonly kill: () => void
}

type RunWish = {
  /** The folder of the attempt, which contains its session. */
  readonly directory: string
  readonly cwd: string
  readonly words: readonly string[]
  readonly prompt: string
  /** Receives its messages, with a function that answers them. */
  readonly tell: (message: RunMessage, answer: (message: SupervisorMessage) => void) => void
}

/**
 * Starts `agent exec` for an attempt: in a group of its own, so that Ctrl-C reaches the supervisor alone; on a channel whose end, if the
 * supervisor dies, ends the run too.
 */
export function startRun({ argv, environment }: AgentProgram, wish: RunWish): RunningRun {
  const { directory, cwd, words, prompt, tell } = wish
  const [program, ...first] = argv
  const child = execa(program, [...first, 'exec', '--supervised', ...words, '-'], {
    cwd,
    env: { ...environment, XDG_STATE_HOME: join(directory, 'state') },
    extendEnv: false,
    input: prompt,
    stdout: 'ignore',
    stderr: { file: join(directory, 'stderr.txt') },
    ipc: true,
    serialization: 'json',
    detached: true,
    reject: false,
    buffer: false,
  })
  // A run that has ended in the meantime needs no answer.
  const answer = (message: SupervisorMessage): void => void child.sendMessage(message).catch(() => undefined)
  const listen = async (): Promise<void> => {
    for await (const said of child.getEachMessage()) {
      const message = runMessage.safeParse(said)
      if (message.success) tell(message.data, answer)
    }
  }
  // Its exit code shows how it ended.
  listen().catch(() => undefined)
  return {
    pid: child.pid,
    ended: child.then(({ exitCode }) => exitCode),
    interrupt: () => child.kill('SIGTERM'),
    kill: () => child.kill('SIGKILL'),
  }
}
