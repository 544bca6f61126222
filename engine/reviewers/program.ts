import { spawn, type ChildProcess } from 'node:child_process'
import process from 'node:process'
import { lineExchange, type Exchange } from '../../policies/index.ts'

/** A program that answers questions, started when there is one. */
type AnsweringProgram = {
  readonly exchange: Exchange
  /** Ends the program with everything it started. Idempotent. */
  readonly close: () => void
}

/**
 * Exchanges JSON lines with a child's standard input and output; its standard error goes to ours. It is started at the
 * first question and stays for the next ones; one that ended is started anew.
 *
 * @param argv the program and its arguments
 */
export function answeringProgram(argv: readonly [string, ...string[]]): AnsweringProgram {
  let running: { readonly child: ChildProcess; readonly exchange: Exchange; failed: Error | undefined } | undefined
  const start = (): NonNullable<typeof running> => {
    const [program, ...words] = argv
    // In a process group of its own, so that what it starts can be ended with it.
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
    const started = { child, exchange: lineExchange(child.stdout, child.stdin), failed: undefined as Error | undefined }
    child.on(
      'error',
      (cause) => (started.failed = new Error(`${program} can't be started: ${cause.message}`, { cause })),
    )
    child.unref()
    return started
  }
  return {
    exchange: async (request, signal) => {
      if (running === undefined || running.failed !== undefined || hasEnded(running.child)) running = start()
      const asked = running
      try {
        return await asked.exchange(request, signal)
      } catch (cause) {
        // Why it can't be started says more than that it closed its output.
        throw asked.failed ?? cause
      }
    },
    close: () => {
      if (running === undefined) return
      running.child.stdin?.end()
      kill(running.child)
      running = undefined
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.stdout?.readableEnded === true
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGTERM')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
