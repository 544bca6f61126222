import type { Command, SandboxProcess } from '../sandbox.ts'

/** The commands of an open sandbox that have not ended yet. */
export class RunningCommands {
  readonly #commands = new Set<SandboxProcess>()
  #writing = 0

  /** How many of the running commands may write, which means that they could change git's files. */
  get writing(): number {
    return this.#writing
  }

  get size(): number {
    return this.#commands.size
  }

  /** Tracks a command until it has ended. Returns its process unchanged. */
  add({ readOnly }: Command, started: SandboxProcess): SandboxProcess {
    const writing = readOnly === true ? 0 : 1
    this.#commands.add(started)
    this.#writing += writing
    const forget = (): void => {
      this.#commands.delete(started)
      this.#writing -= writing
    }
    started.result.then(forget, forget)
    return started
  }

  /** Kills all running commands, and waits until they have ended. */
  async endAll(): Promise<void> {
    for (const started of this.#commands) started.kill()
    await Promise.allSettled([...this.#commands].map(({ result }) => result))
  }
}
