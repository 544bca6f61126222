import { spawn } from 'node:child_process'
import process from 'node:process'
import { isDeepStrictEqual } from 'node:util'
import { RunEvent } from '../../engine/core/events.ts'

/** How a program ended, and its output. */
export type Ended = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export type AgentOptions = {
  readonly cwd: string
  /** A folder used as the user's home, so that no test reads the configuration of the person who runs it. */
  readonly home: string
  readonly env?: Readonly<Record<string, string>>
  /** Text for standard input. Default: none, and standard input is closed at once. */
  readonly stdin?: string
  /** Leaves standard input open and silent, like a pipe to which nobody writes. */
  readonly keepStdinOpen?: true
  /** The command that starts the program, for example one that hides something from it. */
  readonly startedBy?: readonly string[]
  /** The path of another copy of the program, to be run instead of the one that was built here. */
  readonly program?: string
  /** Called with the process as soon as it runs. */
  readonly onStart?: (child: ReturnType<typeof spawn>) => void
}

const program = new URL('../../dist/bin/agent.js', import.meta.url).pathname

/** Runs the real `agent` as its own process, with its own home directory and none of this process's keys. */
export async function agent(args: readonly string[], options: AgentOptions): Promise<Ended> {
  const [command = process.execPath, ...words] = [
    ...(options.startedBy ?? []),
    process.execPath,
    options.program ?? program,
    ...args,
  ]
  const child = spawn(command, words, {
    cwd: options.cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: options.home,
      XDG_CONFIG_HOME: `${options.home}/.config`,
      XDG_STATE_HOME: `${options.home}/.local/state`,
      XDG_CACHE_HOME: `${options.home}/.cache`,
      ...options.env,
    },
    stdio: 'pipe',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // If the program exits without reading its input, writing the input fails. That must not make the test fail.
  child.stdin.on('error', () => undefined)
  if (options.keepStdinOpen !== true) child.stdin.end(options.stdin ?? '')
  options.onStart?.(child)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
}

/** The events of a `--json` run. Each event is checked against the published schema, and must not contain a field that the schema lacks. */
export function eventsOf(stdout: string): readonly RunEvent[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const event: unknown = JSON.parse(line)
      const known = RunEvent.parse(event)
      if (!isDeepStrictEqual(event, known)) throw new Error(`a field that the schema does not name: ${line}`)
      return known
    })
}
