// execa isn't used here, because a run is handled through the events of its process: its messages, its end, and the closing of its channel.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { runMessage, type RunMessage, type SupervisorMessage } from './supervisor-messages.ts'

/** How long to wait for the last messages of a run after its process has ended, in milliseconds. */
const lastWordsMs = 5000

/** The command line and the environment with which a supervisor starts `agent`. */
export type AgentProgram = {
  /** The path of Node, followed by the path of the program that it runs. */
  readonly argv: readonly [string, ...string[]]
  readonly environment: Readonly<NodeJS.ProcessEnv>
}

/** A run in its own process. */
export type RunningRun = {
  readonly pid: number | undefined
  /** The exit code; undefined if the process was killed or could not be started. */
  readonly ended: Promise<number | undefined>
  /** Makes the run end cleanly. */
  readonly interrupt: () => void
  /** Kills the run at once. */
  readonly kill: () => void
}

type RunWish = {
  /** The folder of the attempt, which contains its session. */
  readonly directory: string
  readonly cwd: string
  readonly words: readonly string[]
  readonly prompt: string
  /** Receives the run's messages, with a function that answers them. */
  readonly tell: (message: RunMessage, answer: (message: SupervisorMessage) => void) => void
}

/**
 * Starts `agent exec` for an attempt. The run has its own process group, so that Ctrl-C reaches only the supervisor. It also has a channel to the supervisor:
 * if the supervisor dies, the channel closes and the run ends too.
 */
export function startRun({ argv, environment }: AgentProgram, wish: RunWish): RunningRun {
  const { directory, cwd, words, prompt, tell } = wish
  const [program, ...first] = argv
  const complaints = openSync(join(directory, 'stderr.txt'), 'w', 0o600)
  let child: ChildProcess
  try {
    child = spawn(program, [...first, 'exec', '--supervised', ...words, '-'], {
      cwd,
      env: { ...environment, XDG_STATE_HOME: join(directory, 'state') },
      stdio: ['pipe', 'ignore', complaints, 'ipc'],
      serialization: 'json',
      detached: true,
    })
  } finally {
    closeSync(complaints)
  }
  // Write errors are ignored, because a run that has already ended needs neither its prompt nor an answer.
  child.stdin?.on('error', () => undefined).end(prompt)
  const answer = (message: SupervisorMessage): void => {
    if (child.connected) child.send(message, () => undefined)
  }
  child.on('message', (said) => {
    const message = runMessage.safeParse(said)
    try {
      if (message.success) tell(message.data, answer)
    } catch {
      // The folder can't be written to. This isn't reported here, because storing the run's record will fail for the same reason.
    }
  })
  return {
    pid: child.pid,
    ended: untilEnd(child),
    interrupt: () => child.kill('SIGTERM'),
    kill: () => child.kill('SIGKILL'),
  }
}

/** Waits for the exit code and for all messages: the last message may arrive after the process has ended. */
async function untilEnd(child: ChildProcess): Promise<number | undefined> {
  const said = Promise.withResolvers<void>()
  child.once('disconnect', () => said.resolve())
  const exitCode = await new Promise<number | undefined>((resolve) => {
    child.once('exit', (code) => resolve(code ?? undefined))
    child.once('error', () => resolve(undefined))
  })
  const late = setTimeout(() => said.resolve(), lastWordsMs)
  if (child.connected) await said.promise
  clearTimeout(late)
  return exitCode
}
