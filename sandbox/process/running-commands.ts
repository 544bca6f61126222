import type { Command, SandboxProcess } from '../sandbox.ts'

/** The commands of an open sandbox that have not ended yet. */
export class RunningCommands {
  readonly #commands = new Set<SandboxProcess>()
  readonly #whenNoneWrites: () => void
  #writing = 0

  /** @param whenNoneWrites called each time one has ended and none runs that may write */
  constructor(whenNoneWrites: () => void = () => undefined) {
    this.#whenNoneWrites = whenNoneWrites
  }

  /** How many of them may write, and so change what is to be guarded. */
  get writing(): number {
    return this.#writing
  }

  get size(): number {
    return this.#commands.size
  }

  /** Keeps a command until it has ended, and gives its process back. */
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

  /** Ends all that still run, and resolves when they are gone. */
  async endAll(): Promise<void> {
    for (const started of this.#commands) started.kill()
    await Promise.allSettled([...this.#commands].map(({ result }) => result))
  }
}
