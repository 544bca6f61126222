import type { Command, SandboxProcess } from '../sandbox.ts'

/** The commands of an open sandbox that have not ended yet. */
export class RunningCommands {
  readonly #commands = new Set<SandboxProcess>()
  readonly #whenNoneWrites: () => void
  #writing = 0

  /** @param whenNoneWrites called whenever a command has ended and no running command may write */
  constructor(whenNoneWrites: () => void = () => undefined) {
    this.#whenNoneWrites = whenNoneWrites
  }

  /** How many of the running commands may write, which means that they could change guarded files. */
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
      if (this.#writing === 0) this.#whenNoneWrites()
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
