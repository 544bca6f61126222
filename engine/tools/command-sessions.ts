import type { SandboxMode } from '../../policies/index.ts'
import { foldersInTerminal, type ExecResult, type Sandbox, type SandboxProcess } from '../../sandbox/index.ts'
import { OutputBuffer } from '../core/text/output-buffer.ts'
import { endsWithin } from './ends-within.ts'

/** How many bytes of one command's output are kept. The rest is only counted. */
const outputLimitBytes = 4 * 1024 * 1024

/** How many bytes from the end of a running command's output are passed to live displays. */
const tailBytes = 8 * 1024

/** The maximum size, in bytes, of the output that is kept until a call returns it. If there is more, the middle is left out. */
const unreadLimitBytes = 1024 * 1024

/** The maximum number of folders of a shell that are kept apart. */
const mostFolders = 8

/** A command that has been started and may still be running. */
export class LiveCommand {
  readonly #child: SandboxProcess
  readonly #whole = new OutputBuffer(outputLimitBytes)
  #unread = new OutputBuffer(unreadLimitBytes)
  /** The mode of the sandbox that confines the command. */
  readonly mode: SandboxMode
  readonly sandbox: Sandbox
  readonly hasTerminal: boolean
  hasEnded = false
  /** The folder in which the command was started. */
  readonly #cwd: string
  /** The folders to which typed lines may lead. Undefined stands for one that can't be known. */
  readonly #entered = new Set<string | undefined>()
  /** Input that was written to a shell but isn't a complete command yet. The shell waits for the rest. */
  typed = ''

  /** The command's line, as people read it. */
  readonly line: string

  constructor(child: SandboxProcess, mode: SandboxMode, sandbox: Sandbox, line: string, cwd: string) {
    this.#child = child
    this.#cwd = cwd
    this.line = line
    this.mode = mode
    this.sandbox = sandbox
    this.hasTerminal = child.terminal !== undefined
    const end = (): void => void (this.hasEnded = true)
    child.result.then(end, end)
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        this.#whole.push(bytes)
        this.#unread.push(bytes)
      })
    }
    // Writing to a terminal that has just been closed fails. This error is ignored, because the command's result already reports the end of the command.
    child.stdin?.on('error', () => undefined)
  }

  /** Resolves when the command has ended. */
  get result(): Promise<ExecResult> {
    return this.#child.result
  }

  /** Everything that the command has printed. If that is too long, the middle is left out. */
  get output(): Buffer {
    return this.#whole.toBytes()
  }

  /** The end of the output. It is longer than what is shown, so that a secret is never cut in two and shown in part. */
  tail(): Buffer {
    return this.#whole.tail(tailBytes)
  }

  /** Returns the output that has arrived since this method was last called. */
  takeUnread(): Buffer {
    const bytes = this.#unread.toBytes()
    this.#unread = new OutputBuffer(unreadLimitBytes)
    return bytes
  }

  /**
   * The folders in which a shell that reads typed lines may be working: those of its processes, and, because it may not have run all typed lines yet,
   * those to which the lines lead. Undefined stands for a folder that can't be known.
   */
  get folders(): readonly (string | undefined)[] {
    const { pid } = this.#child
    const found = pid === undefined ? [] : foldersInTerminal(pid)
    return [...new Set([...(found.length === 0 ? [this.#cwd] : found), ...this.#entered])]
  }

  /** Notes the folders in which a shell may be working after a typed line. */
  enters(folders: readonly (string | undefined)[]): void {
    for (const folder of folders) this.#entered.add(folder)
    if (this.#entered.size <= mostFolders) return
    this.#entered.clear()
    this.#entered.add(undefined)
  }

  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  kill(): void {
    this.#child.kill()
  }

  /**
   * Waits until the command has ended, `ms` milliseconds have passed, or the signal is aborted. Resolves to undefined if the command hasn't ended by
   * then.
   */
  endWithin(ms: number, signal: AbortSignal): Promise<ExecResult | undefined> {
    return endsWithin(this.result, ms, signal)
  }
}

/** The maximum number of a run's commands that run in the background at the same time. */
export const mostSessions = 64

/** The commands of a run that continue after their calls have returned. */
export class CommandSessions {
  readonly #live = new Map<number, LiveCommand>()
  readonly #mentioned = new Set<number>()
  #next = 1

  get size(): number {
    return this.#live.size
  }

  /** Stores a command until `remove` is called. Returns the command's number. */
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

  /**
   * Returns the commands that are still running, except those that an earlier call has returned, and those that are left out.
   *
   * @param isLeftOut whether the model hears of this command in another way
   */
  takeUnmentioned(isLeftOut: (id: number) => boolean): readonly { readonly id: number; readonly line: string }[] {
    const found = [...this.#live].filter(
      ([id, command]) => !command.hasEnded && !this.#mentioned.has(id) && !isLeftOut(id),
    )
    for (const [id] of found) this.#mentioned.add(id)
    return found.map(([id, { line }]) => ({ id, line }))
  }

  /** The numbers of the stored commands. */
  get ids(): readonly number[] {
    return [...this.#live.keys()]
  }

  /** Kills all commands. Resolves when they have ended. */
  async close(): Promise<void> {
    for (const command of this.#live.values()) command.kill()
    await Promise.allSettled([...this.#live.values()].map(({ result }) => result))
    this.#live.clear()
  }
}
