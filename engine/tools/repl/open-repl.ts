import { randomUUID } from 'node:crypto'
import {
  SandboxError,
  type Denial,
  type ExecResult,
  type Sandbox,
  type SandboxProcess,
} from '../../../sandbox/index.ts'
import { sanitizeOutput } from '../../core/text/sanitize-output.ts'
import { OutputBuffer } from '../../core/text/output-buffer.ts'
import { sessionProgram, type ReplAnswer, type ReplRequest } from './session-program.ts'

/** The outcome of evaluating a piece of code. */
export type Evaluation = {
  /** The output since the last call, sanitized. */
  readonly output: string
  /** What the sandbox is known to have denied or removed so far. */
  readonly denials: readonly Denial[]
  /** Why the previous session is gone, if this evaluation had to start a new one in its place. */
  readonly lost?: string
} & (
  | ({ readonly status: 'evaluated' } & ReplAnswer)
  /** The session has ended, and its variables are lost. */
  | { readonly status: 'ended'; readonly reason: string }
)

/** A JavaScript session in the sandbox. It is started when it is first needed and ends with the run. */
export type Repl = {
  /**
   * Evaluates code, one call at a time. If it takes longer than `timeoutMs`, or if `signal` is aborted, the session ends. The promise never
   * rejects because of the code.
   */
  evaluate(code: string, timeoutMs: number, signal: AbortSignal): Promise<Evaluation>
  /** Ends the session, if there is one. The next call starts another. */
  close(): void
}

/** The time limit of the session's process: none, because the process ends with the run. */
const lifetimeMs = Infinity
/** How many bytes of the output between the results of two evaluations are kept. */
const outputLimitBytes = 4 * 1024 * 1024

/** Creates the session of a run without starting its process. */
export function openRepl(sandbox: Sandbox): Repl {
  let session: Session | undefined
  return {
    evaluate: async (code, timeoutMs, signal) => {
      const lost = session?.ended
      try {
        if (session === undefined || lost !== undefined) session = new Session(sandbox)
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error
        return { status: 'ended', reason: `it can't be started: ${error.message}`, output: '', denials: [] }
      }
      const evaluated = await session.evaluate(code, timeoutMs, signal)
      // What a command has changed in git is imported when it ends. The session is still running, so the sandbox is asked to import it now.
      const refused = sandbox.policy.mode === 'workspace-write' ? await sandbox.inspect() : []
      const denials = [...evaluated.denials, ...refused]
      if (evaluated.status === 'ended') session = undefined
      return { ...evaluated, denials, ...(lost === undefined ? {} : { lost }) }
    },
    close: () => {
      session?.end('it was closed')
      session = undefined
    },
  }
}

type Answered = Evaluation & { readonly lost?: never }

/** The process of a session. */
class Session {
  /** Why the process is gone; undefined while it runs. */
  ended: string | undefined
  readonly #child: SandboxProcess
  readonly #finished: Promise<readonly Denial[]>
  #printed = new OutputBuffer(outputLimitBytes)
  /** The last bytes of the output so far, which may be the beginning of an answer. */
  #pending: Buffer = Buffer.alloc(0)
  #waiting: { readonly nonce: string; readonly answer: (answer: ReplAnswer) => void } | undefined

  constructor(sandbox: Sandbox) {
    this.#child = sandbox.spawn({
      argv: [...sandbox.node, '--no-warnings', '-e', sessionProgram()],
      cwd: sandbox.policy.workspace,
      stdin: 'pipe',
      timeoutMs: lifetimeMs,
      outputBytes: Infinity,
    })
    const { stdin, stdout, stderr, result } = this.#child
    // The process may exit during a write. The end of the process is handled below.
    stdin?.on('error', () => undefined)
    stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    stderr.on('data', (chunk: Buffer) => this.#printed.push(chunk))
    this.#finished = result.then(
      (result) => {
        this.ended ??= ending(result)
        return result.denials
      },
      (error: unknown) => {
        this.ended ??= error instanceof Error ? error.message : String(error)
        return []
      },
    )
  }

  async evaluate(code: string, timeoutMs: number, signal: AbortSignal): Promise<Answered> {
    const request: ReplRequest = { nonce: randomUUID(), code }
    const { promise, resolve } = Promise.withResolvers<ReplAnswer>()
    this.#waiting = { nonce: request.nonce, answer: resolve }
    const abort = (): void => this.end('the call was cancelled')
    const timer = setTimeout(() => this.end(`the code ran longer than ${timeoutMs} ms`), timeoutMs)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`)
    const answer = await Promise.race([promise, this.#finished])
    signal.removeEventListener('abort', abort)
    clearTimeout(timer)
    this.#waiting = undefined
    if ('threw' in answer) return { status: 'evaluated', ...answer, output: this.#takeOutput(), denials: [] }
    this.#printed.push(this.#pending)
    return { status: 'ended', reason: this.ended ?? 'it ended', output: this.#takeOutput(), denials: answer }
  }

  /**
   * Ends the session by killing its process.
   *
   * @param reason why the session ends, as a clause such as "it was closed"
   */
  end(reason: string): void {
    this.ended ??= reason
    this.#child.kill()
  }

  #takeOutput(): string {
    const output = sanitizeOutput(this.#printed.toBytes())
    this.#printed = new OutputBuffer(outputLimitBytes)
    return output
  }

  /** Handles bytes that the process wrote: finds the answer in them, and treats everything else as output. */
  #receive(chunk: Buffer): void {
    const received = Buffer.concat([this.#pending, chunk])
    this.#pending = Buffer.alloc(0)
    if (this.#waiting === undefined) {
      this.#printed.push(received)
      return
    }
    const { nonce, answer } = this.#waiting
    const mark = `\n${nonce}`
    const start = received.indexOf(mark)
    const end = start === -1 ? -1 : received.indexOf('\n', start + mark.length)
    if (end === -1) {
      const kept = start === -1 ? Math.max(0, received.length - mark.length) : start
      this.#printed.push(received.subarray(0, kept))
      this.#pending = received.subarray(kept)
      return
    }
    this.#printed.push(received.subarray(0, start))
    answer(JSON.parse(received.toString('utf8', start + mark.length, end)) as ReplAnswer)
    this.#waiting = undefined
    this.#printed.push(received.subarray(end + 1))
  }
}

function ending(result: ExecResult): string {
  switch (result.status) {
    case 'exited':
      return `it exited with code ${result.code}`
    case 'signaled':
      return `it was killed by ${result.signal}`
    case 'timed-out':
    case 'cancelled':
      return 'it was stopped'
    default:
      return result satisfies never
  }
}
