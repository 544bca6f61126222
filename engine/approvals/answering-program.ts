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
  /** Ends the program with everything it started, by force where it doesn't go on request. Idempotent. */
  readonly close: () => Promise<void>
}

type Execa = (typeof import('execa'))['execa']

type AnsweringOptions = {
  /** What commands may write to. */
  readonly roots: readonly string[]
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** Takes its standard error. Undefined: nobody does. */
  readonly errors: Writable | undefined
}

/**
 * Exchanges JSON lines with a child's standard input and output. It is started at the
 * first question and stays for the next ones; one that ended is started anew.
 *
 * @param argv the program and its arguments; a name is looked up now, where no command can have put a program
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
    // In a process group of its own, so that what it starts can be ended with it. What it says is read as it comes, and how it ends is no error.
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
    // Passed on rather than handed over: whoever reads our standard error must see its end when we are gone.
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
        // Why it can't be started says more than that it closed its output.
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

/** The program's file, or why there is none; that is said when it is first asked, as for one that can't be started. */
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

/** How long a program has to go by itself, and how often it is looked at meanwhile. */
const graceMs = 1000
const lookMs = 20

/** Signals a process group; false where nobody is left in it. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}
