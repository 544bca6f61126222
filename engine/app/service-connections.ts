import type { ServiceConnection } from '../../sandbox/index.ts'
import type { ServiceReports } from '../run/run-options.ts'

/**
 * Passes the connections of a run's commands, hooks and servers to the run. Those that end before the run begins are kept until then, and those that are
 * still open when it ends are reported as they are then.
 */
export class ServiceConnections implements ServiceReports {
  readonly #early: ServiceConnection[] = []
  readonly #open = new Set<() => ServiceConnection>()
  #listener: Parameters<ServiceReports['listen']>[0] | undefined

  /** Receives the state of each connection when it begins, and returns what to call when it has ended. */
  readonly onOpenConnection = (read: () => ServiceConnection): (() => void) => {
    this.#open.add(read)
    return () => void this.#open.delete(read)
  }

  /** Receives every connection when it has ended. */
  readonly onConnection = (connection: ServiceConnection): void => {
    if (this.#listener === undefined) this.#early.push(connection)
    else this.#listener(connection, false)
  }

  listen(listener: Parameters<ServiceReports['listen']>[0]): void {
    this.#listener = listener
    for (const connection of this.#early.splice(0)) listener(connection, false)
  }

  end(): void {
    const listener = this.#listener
    this.#listener = () => undefined
    for (const read of this.#open) listener?.(read(), true)
    this.#open.clear()
  }
}
