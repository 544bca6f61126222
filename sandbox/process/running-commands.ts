import type { SandboxProcess } from '../sandbox.ts'

/** The commands of an open sandbox that have not ended yet. */
export class RunningCommands {
  readonly #commands = new Set<SandboxProcess>()
  readonly #whenNone: () => void

  /** @param whenNone called each time the last of them has ended */
  constructor(whenNone: () => void = () => undefined) {
    this.#whenNone = whenNone
  }

  get size(): number {
    return this.#commands.size
  }

  /** Keeps a command until it has ended, and gives it back. */
  add(started: SandboxProcess): SandboxProcess {
    this.#commands.add(started)
    const forget = (): void => {
      this.#commands.delete(started)
      if (this.#commands.size === 0) this.#whenNone()
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
