import type { ServiceConnection } from '../../sandbox/index.ts'

/** Passes the connections of a run's commands, hooks and servers to the run. Those that end before the run begins are kept until then. */
export class ServiceConnections {
  readonly #early: ServiceConnection[] = []
  #listener: ((connection: ServiceConnection) => void) | undefined

  /** Receives every connection when it has ended. */
  readonly onConnection = (connection: ServiceConnection): void => {
    if (this.#listener === undefined) this.#early.push(connection)
    else this.#listener(connection)
  }

  readonly report = (listener: (connection: ServiceConnection) => void): void => {
    this.#listener = listener
    for (const connection of this.#early.splice(0)) listener(connection)
  }
}
