import { PassThrough, type Readable } from 'node:stream'
import type { ContainerProcess } from './client.ts'

/** The streams of a process that is yet to start: what is asked for now is connected once there is something to connect. */
export function relayLater(start: () => Promise<ContainerProcess>): {
  readonly stdin: PassThrough
  readonly stdout: Readable
  readonly stderr: Readable
  /** The exit code; rejects when it could not be started. */
  readonly code: Promise<number>
} {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const code = (async () => {
    try {
      const started = await start()
      started.stdout.pipe(stdout)
      started.stderr.pipe(stderr)
      if (started.stdin !== undefined) stdin.pipe(started.stdin)
      return await started.code
    } catch (error) {
      stdout.end()
      stderr.end()
      throw error
    }
  })()
  return { stdin, stdout, stderr, code }
}
