import type { ServiceConnection } from '../../../sandbox/index.ts'
import type { Item, ItemDraft, RunRecord } from '../../core/events.ts'

type ConnectionItem = Extract<Item, { type: 'service_connection' }>
type Counts = NonNullable<RunRecord['services']>[number]

/** Counts the connections to services, and their bytes. */
export class ServicesSeen {
  readonly #counts = new Map<number, Counts>()
  #connections = 0

  /** How many connections were counted. */
  get connections(): number {
    return this.#connections
  }

  see({ name, host, port, bytes_sent: sent, bytes_received: received, error }: Omit<ConnectionItem, 'id'>): void {
    this.#connections++
    const named = name === undefined ? {} : { name }
    const known = this.#counts.get(port) ?? {
      ...named,
      ...{ host, port, connections: 0, failed: 0, bytes_sent: 0, bytes_received: 0 },
    }
    this.#counts.set(port, {
      ...known,
      connections: known.connections + 1,
      failed: known.failed + (error === undefined ? 0 : 1),
      bytes_sent: known.bytes_sent + sent,
      bytes_received: known.bytes_received + received,
    })
  }

  /** What the record says about services. Empty if there was no connection. */
  told(): Pick<RunRecord, 'services'> {
    return this.#counts.size === 0 ? {} : { services: [...this.#counts.values()] }
  }
}

/**
 * Turns a connection into an item of the event stream.
 *
 * @param isOpen whether it is still open, and the run ends
 */
export function connectionItem(
  { name, host, port, sent, received, durationMs, failure }: ServiceConnection,
  isOpen: boolean,
): ItemDraft & { readonly type: 'service_connection' } {
  return {
    type: 'service_connection',
    ...(name === undefined ? {} : { name }),
    ...{ host, port, bytes_sent: sent, bytes_received: received, duration_ms: durationMs },
    ...(failure === undefined ? {} : { error: failure }),
    ...(isOpen ? { still_open: true } : {}),
  }
}
