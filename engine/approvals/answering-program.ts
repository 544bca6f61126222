import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import process from 'node:process'
import type { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { lineExchange, type Exchange } from '../../policies/index.ts'
import { hostPath, hostProgram, isGroupAlive } from '../../sandbox/index.ts'

/** A program that answers questions, started when there is one. */
type AnsweringProgram = {
  readonly exchange: Exchange
  /** Ends the program and everything it started, by force where it ignores the request. Idempotent. */
  readonly close: () => Promise<void>
}

type Execa = (typeof import('execa'))['execa']

type AnsweringOptions = {
  /** The paths that commands may write to. */
  readonly roots: readonly string[]
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** Receives its standard error. Undefined: it is dropped. */
  readonly errors: Writable | undefined
}

/**
 * Exchanges JSON lines with a child process. It starts at the first question and stays for the next ones; one that ended is started again.
 *
 * @param argv the program and its arguments; a name is resolved now, before any command could plant a program
 */
export function answeringProgram(
  argv: readonly [string, ...string[]],
  { roots, environment, errors }: AnsweringOptions,
): AnsweringProgram {
  const [name, ...words] = argv
  const located = locate(name, roots)
  let running: { readonly child: ChildProcess; readonly exchange: Exchange; failed: Error | undefined } | undefined
  const start = (execa: Execa): NonNullable<typeof running> => {
    if (located instanceof Error) throw located
    // In its own process group, so that its children can be ended with it. Output is read as it comes, and a non-zero exit is no error.
    const {
      nodeChildProcess: child,
      stdin,
      stdout,
      stderr,
    } = execa(located, words, {
      stdio: ['pipe', 'pipe', 'pipe'],
      buffer: false,
      reject: false,
      detached: true,
      extendEnv: false,
      env: { ...environment, PATH: hostPath(roots, environment['PATH']) },
    })
    // Piped rather than inherited: the reader of our standard error must see its end when this process is gone.
    if (errors === undefined) stderr.resume()
    else stderr.pipe(errors, { end: false })
    const started = { child, exchange: lineExchange(stdout, stdin), failed: undefined as Error | undefined }
    child.on('error', (cause) => (started.failed = new Error(`${name} can't be started: ${cause.message}`, { cause })))
    child.unref()
    for (const stream of [stdin, stdout, stderr]) (stream as Partial<Socket>).unref?.()
    return started
  }
  return {
    exchange: async (request, signal) => {
      // Loaded at the first question: most runs never ask.
      const { execa } = await import('execa')
      if (running === undefined || running.failed !== undefined || hasEnded(running.child)) running = start(execa)
      const asked = running
      try {
        return await asked.exchange(request, signal)
      } catch (cause) {
        // The reason why it can't be started says more than that it closed its output.
        throw asked.failed ?? cause
      }
    },
    close: async () => {
      const { child } = running ?? {}
      running = undefined
      if (child === undefined) return
      child.stdin?.end()
      const { pid } = child
      if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
      for (let waited = 0; waited < graceMs && isGroupAlive(pid); waited += lookMs) await setTimeout(lookMs)
      signalGroup(pid, 'SIGKILL')
      child.stderr?.destroy()
    },
  }
}

/** The program's file, or why there is none; that is reported at the first question, as for a program that can't be started. */
function locate(name: string, roots: readonly string[]): string | Error {
  try {
    return hostProgram(name, roots)
  } catch (cause) {
    return new Error(`${name} can't be started: ${(cause as Error).message}`, { cause })
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.stdout?.readableEnded === true
}

/** How long a program may take to end by itself, and how often it is checked meanwhile. */
const graceMs = 1000
const lookMs = 20

/** Signals a process group; false where it is empty. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}
