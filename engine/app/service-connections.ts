import type { CredentialUse, ServiceConnection } from '../../sandbox/index.ts'
import type { ServiceReports } from '../run/run-options.ts'

type Listener = Parameters<ServiceReports['listen']>[0]
type UseListener = Parameters<ServiceReports['listen']>[1]

/**
 * Passes the connections of a run's commands, hooks and servers to services, and their uses of credentials, to the run. Those that end before the run begins are kept until then, and those that are
 * still open when it ends are reported as they are then.
 */
export class ServiceConnections implements ServiceReports {
  readonly #early: ServiceConnection[] = []
  readonly #open = new Set<() => ServiceConnection>()
  readonly #earlyUses: CredentialUse[] = []
  #listener: Listener | undefined
  #useListener: UseListener | undefined

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

  /** Receives every use of a credential when it has ended. */
  readonly onUse = (use: CredentialUse): void => {
    if (this.#useListener === undefined) this.#earlyUses.push(use)
    else this.#useListener(use)
  }

  listen(listener: Listener, useListener: UseListener): void {
    this.#listener = listener
    this.#useListener = useListener
    for (const use of this.#earlyUses.splice(0)) useListener(use)
    for (const connection of this.#early.splice(0)) listener(connection, false)
  }

  end(): void {
    const listener = this.#listener
    this.#listener = () => undefined
    this.#useListener = () => undefined
    for (const read of this.#open) listener?.(read(), true)
    this.#open.clear()
  }
}
