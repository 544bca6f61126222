import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Terminal } from '../sandbox.ts'
import type { CommandPipes } from './pipes.ts'

/** The end of a command's first process, or the error because of which it never started. */
type ProcessEnd = { readonly code: number | null; readonly signal: string | null; readonly error?: Error }

/** A process that a backend started, on this machine or elsewhere. */
export type StartedProcess = {
  readonly pid: number | undefined
  readonly stdin: Writable | undefined
  /** Our ends of the process's output pipes. They close when all processes have closed the other ends. */
  readonly stdout: Readable
  readonly stderr: Readable
  readonly terminal?: Terminal | undefined
  /** Resolves when the first process has ended. Never rejects. */
  readonly exit: Promise<ProcessEnd>
  /** Releases the pipes of the process. Call this when all processes have ended and the outputs are closed. */
  readonly release: () => void
}

/** Wraps one of our child processes, which writes to `pipes`. Call this right after the child has started. */
export function startedChild(child: ChildProcess, pipes: CommandPipes): StartedProcess {
  pipes.handedOver()
  return {
    pid: child.pid,
    stdin: child.stdin ?? undefined,
    stdout: pipes.stdout.source,
    stderr: pipes.stderr.source,
    exit: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
      child.once('error', (error) => resolve({ code: null, signal: null, error }))
    }),
    release: pipes.release,
  }
}
