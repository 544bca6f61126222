// Not by execa: its time would be every run's, more than twice what starting a process takes.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { runMessage, type RunMessage, type SupervisorMessage } from './supervisor-messages.ts'

/** How long the last messages of a run may take to arrive. */
const lastWordsMs = 5000

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
  // A run that has ended in the meantime needs neither its prompt nor an answer.
  child.stdin?.on('error', () => undefined).end(prompt)
  const answer = (message: SupervisorMessage): void => {
    if (child.connected) child.send(message, () => undefined)
  }
  child.on('message', (said) => {
    const message = runMessage.safeParse(said)
    try {
      if (message.success) tell(message.data, answer)
    } catch {
      // A folder that can't be written: the run's exit code shows how it ended, and its record can't be written either.
    }
  })
  return {
    pid: child.pid,
    ended: untilEnd(child),
    interrupt: () => child.kill('SIGTERM'),
    kill: () => child.kill('SIGKILL'),
  }
}

/** Waits for its exit code, and for all that it has said: its last message may arrive after it has ended. */
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
