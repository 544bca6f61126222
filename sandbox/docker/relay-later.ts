import { PassThrough, type Readable } from 'node:stream'
import type { TerminalSize } from '../sandbox.ts'
import type { ContainerProcess } from './client.ts'

/** Returns the streams of a process that hasn't started yet. They are connected to the process when it starts. */
export function relayLater(
  size: TerminalSize | undefined,
  start: () => Promise<ContainerProcess>,
): {
  readonly stdin: PassThrough
  readonly stdout: Readable
  readonly stderr: Readable
  /** Sets the size of the process's terminal, as soon as there is one. */
  readonly resize: (size: TerminalSize) => void
  /** Resolves with the exit code; rejects if the process could not be started, or if the daemon stopped answering. */
  readonly code: Promise<number>
} {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let started: ContainerProcess | undefined
  let wanted = size
  const code = (async () => {
    try {
      started = await start()
      if (wanted !== undefined) started.resize(wanted)
      relay(started.stdout, stdout)
      relay(started.stderr, stderr)
      if (started.stdin !== undefined) stdin.pipe(started.stdin)
      return await started.code
    } catch (error) {
      stdout.end()
      stderr.end()
      throw error
    }
  })()
  const resize = (size: TerminalSize): void => {
    wanted = size
    started?.resize(size)
  }
  return { stdin, stdout, stderr, code, resize }
}

function relay(from: Readable, to: PassThrough): void {
  from.pipe(to)
  // Output that nobody reads must still be drained, because otherwise the stream would never end.
  to.once('close', () => from.resume())
}
