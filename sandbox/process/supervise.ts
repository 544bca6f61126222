import process from 'node:process'
import { PassThrough, type Readable } from 'node:stream'
import { watchDisks, type DiskExceeded, type DiskLimit } from '../limits/disk.ts'
import { setLongTimeout } from './long-timeout.ts'
import type { StartedProcess } from './started.ts'
import { capDenials } from '../denials/cap.ts'
import { limitDenial } from '../denials/limit.ts'
import type { Denial, ExecResult, SandboxProcess } from '../sandbox.ts'

/**
 * How many milliseconds processes may take to end by themselves before they are killed. This is less than two seconds, because an interrupted run must end
 * within that time.
 */
const graceMs = 1500

/** How many milliseconds a pipe must be silent before reading from it stops, if other processes still hold it open after the command has ended. */
const quietMs = 100

/** The time in milliseconds, from a clock that nobody can set. Node's `performance` also has such a clock, but it loads an additional module. */
const now = (): number => process.uptime() * 1000

/** A started command, with the data and functions that only its backend can supply. */
type Supervised = StartedProcess & {
  /** Asks all processes of the command to end. */
  readonly terminate: () => void
  /** Kills all processes of the command. It must be safe to call this at any time, repeatedly, and after the command has ended. */
  readonly destroy: () => void
  readonly timeoutMs: number
  readonly outputBytes: number
  readonly disk: DiskLimit
  readonly signal: AbortSignal | undefined
  /**
   * Called once, after the command's first process has ended. Waits until no process of the command is left, and returns the denials. May reject if
   * the command never ran; the command's result then rejects too.
   *
   * @param drained waits until the command's output has been read; call it only when no process is left that could write more
   */
  readonly settle: (
    end: { readonly code: number | null; readonly signal: string | null },
    drained: () => Promise<void>,
  ) => Promise<readonly Denial[]>
}

type Cause =
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'flooded' }
  | { readonly kind: 'filled'; readonly exceeded: DiskExceeded }
  | undefined

/**
 * Watches a command until it ends. It enforces the limits on time, output and disk space, handles aborts, and ends the streams together with the
 * command, even if a process that the command left behind still holds them open.
 */
export function supervise(supervised: Supervised): SandboxProcess {
  const { timeoutMs, outputBytes, signal } = supervised
  const started = now()
  let cause: Cause
  let escalation: NodeJS.Timeout | undefined
  let ended = false

  const end = (why: Cause): void => {
    if (ended || escalation !== undefined) return
    cause ??= why
    supervised.terminate()
    escalation = setTimeout(supervised.destroy, graceMs)
  }
  const timer = setLongTimeout(() => end({ kind: 'timed-out' }), timeoutMs)
  const abort = (): void => end({ kind: 'cancelled' })
  signal?.addEventListener('abort', abort, { once: true })
  const leaveDisks = watchDisks(supervised.disk, (exceeded) => {
    if (ended) return
    cause ??= { kind: 'filled', exceeded }
    // The command gets no grace period, because it could write even more in that time.
    supervised.destroy()
  })
  if (signal?.aborted === true) abort()

  let remaining = outputBytes
  const take = (chunk: Buffer): Buffer => {
    const part = chunk.subarray(0, remaining)
    remaining -= part.length
    // The output has exceeded the limit, and more of it would be of no use. So the command gets no grace period, and its output is no longer read.
    if (part.length < chunk.length) {
      if (!ended) cause ??= { kind: 'flooded' }
      supervised.destroy()
      supervised.stdout.destroy()
      supervised.stderr.destroy()
    }
    return part
  }
  const stdout = relay(supervised.stdout, take)
  const stderr = relay(supervised.stderr, take)

  const drained = async (): Promise<void> => void (await Promise.all([stdout.finish(), stderr.finish()]))

  const result = (async (): Promise<ExecResult> => {
    const last = await supervised.exit
    ended = true
    timer.cancel()
    clearTimeout(escalation)
    leaveDisks()
    signal?.removeEventListener('abort', abort)
    const durationMs = now() - started
    try {
      if (last.error !== undefined) throw last.error
      const denials = await supervised.settle(last, drained)
      const base = { durationMs, denials: capDenials([...reached(cause, { timeoutMs, outputBytes }), ...denials]) }
      if (cause?.kind === 'timed-out') return { status: 'timed-out', afterMs: timeoutMs, ...base }
      if (cause?.kind === 'cancelled') return { status: 'cancelled', ...base }
      if (cause?.kind === 'flooded' || cause?.kind === 'filled')
        return { status: 'signaled', signal: 'SIGKILL', ...base }
      if (last.signal !== null) return { status: 'signaled', signal: last.signal, ...base }
      return { status: 'exited', code: last.code ?? 1, ...base }
    } finally {
      await drained()
      supervised.release()
    }
  })()
  // The rejection reaches the caller that awaits the result. A caller that only kills the command must not crash because of it.
  result.catch(() => undefined)

  return {
    pid: supervised.pid,
    stdin: supervised.stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    terminal: supervised.terminal,
    result,
    kill: () => end({ kind: 'cancelled' }),
  }
}

/**
 * Returns a list with the denial for the limit because of which this program killed the command. The list is empty if this program killed the command
 * for a different reason, or not at all.
 */
function reached(
  cause: Cause,
  limits: { readonly timeoutMs: number; readonly outputBytes: number },
): readonly Denial[] {
  if (cause?.kind === 'timed-out') return [limitDenial('wallTimeMs', limits.timeoutMs, 'proven')]
  if (cause?.kind === 'flooded') return [limitDenial('outputBytes', limits.outputBytes, 'proven')]
  if (cause?.kind === 'filled') return [limitDenial(cause.exceeded.limit, cause.exceeded.value, 'proven')]
  return []
}

/**
 * A readable stream that copies a pipe. It can end properly even if a process still holds the pipe open. `take` returns the part of a chunk that is
 * passed on.
 */
function relay(
  source: Readable,
  take: (chunk: Buffer) => Buffer,
): { readonly stream: Readable; readonly finish: () => Promise<void> } {
  const stream = new PassThrough()
  let last = 0
  source.on('data', (chunk: Buffer) => {
    last = now()
    const part = take(chunk)
    if (part.length > 0 && !stream.destroyed && !stream.write(part)) source.pause()
  })
  source.once('end', () => stream.end())
  source.on('error', () => source.destroy())
  stream.on('drain', () => source.resume())
  const closed = new Promise<void>((resolve) => source.once('close', resolve))
  // If the reader stops reading, the command must not stay blocked on a full pipe.
  stream.once('close', () => source.resume())
  const finish = async (): Promise<void> => {
    last = Math.max(last, now())
    while (!source.closed) {
      const wait = last + quietMs - now()
      // A paused source means that the reader is slow, not that the writer is silent. Buffered data must still be delivered.
      if (wait <= 0 && source.readableFlowing !== false && source.readableLength === 0) break
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, Math.max(wait, 5)))])
    }
    source.destroy()
    await closed
    stream.end()
  }
  return { stream, finish }
}
