import type { SandboxMode } from '../../policies/index.ts'
import type { ExecResult, Sandbox, SandboxProcess } from '../../sandbox/index.ts'
import { OutputBuffer } from '../core/text/output-buffer.ts'
import { endsWithin } from './ends-within.ts'

/** The limit for one command's output; further output is counted and dropped. */
const outputLimitBytes = 4 * 1024 * 1024

/** The end of an output, for displays. */
const tailBytes = 8 * 1024

/** The limit for a command's unread output. */
const unreadLimitBytes = 1024 * 1024

/** A command that has been started and perhaps not ended yet. */
export class LiveCommand {
  readonly #child: SandboxProcess
  readonly #whole = new OutputBuffer(outputLimitBytes)
  #unread = new OutputBuffer(unreadLimitBytes)
  /** The sandbox that confines it. */
  readonly mode: SandboxMode
  readonly sandbox: Sandbox
  readonly hasTerminal: boolean
  /** Input that is no complete command yet: a shell waits for the rest. */
  typed = ''

  constructor(child: SandboxProcess, mode: SandboxMode, sandbox: Sandbox) {
    this.#child = child
    this.mode = mode
    this.sandbox = sandbox
    this.hasTerminal = child.terminal !== undefined
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        this.#whole.push(bytes)
        this.#unread.push(bytes)
      })
    }
    // Writing to a terminal that has just been closed fails; the command's end says so.
    child.stdin?.on('error', () => undefined)
  }

  /** Resolves when it has ended. */
  get result(): Promise<ExecResult> {
    return this.#child.result
  }

  /** All it has printed, with the middle left out when that is too much. */
  get output(): Buffer {
    return this.#whole.toBytes()
  }

  /** The end of its output: more than is shown, so that a secret which begins earlier isn't shown in part. */
  tail(): Buffer {
    return this.#whole.tail(tailBytes)
  }

  /** Its output since the last call. */
  takeUnread(): Buffer {
    const bytes = this.#unread.toBytes()
    this.#unread = new OutputBuffer(unreadLimitBytes)
    return bytes
  }

  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  kill(): void {
    this.#child.kill()
  }

  /** Waits for its end, but no longer than `ms`, or until the signal; undefined when it has not ended by then. */
  endWithin(ms: number, signal: AbortSignal): Promise<ExecResult | undefined> {
    return endsWithin(this.result, ms, signal)
  }
}

/** How many commands may stay alive in a run. */
export const mostSessions = 64

/** The commands of a run that continue after their calls were answered. */
export class CommandSessions {
  readonly #live = new Map<number, LiveCommand>()
  #next = 1

  get size(): number {
    return this.#live.size
  }

  /** Stores a command until `remove`, and gives its number. */
  add(command: LiveCommand): number {
    const id = this.#next++
    this.#live.set(id, command)
    return id
  }

  get(id: number): LiveCommand | undefined {
    return this.#live.get(id)
  }

  remove(id: number): void {
    this.#live.delete(id)
  }

  /** The numbers of stored commands. */
  get ids(): readonly number[] {
    return [...this.#live.keys()]
  }

  /** Ends all, and resolves when they are gone. */
  async close(): Promise<void> {
    for (const command of this.#live.values()) command.kill()
    await Promise.allSettled([...this.#live.values()].map(({ result }) => result))
    this.#live.clear()
  }
}
