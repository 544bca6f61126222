import type { CredentialUse } from '../../../sandbox/index.ts'
import type { Item, ItemDraft, RunRecord } from '../../core/events.ts'

type UseItem = Extract<Item, { type: 'credential_use' }>
type Counts = NonNullable<RunRecord['credentials']>[number]

/** The most different operations of a run that its record lists. Further ones are counted together. */
const mostOperations = 200
const furtherOnes = 'further operations'

/** Counts the uses of credentials, by credential, host and operation. */
export class CredentialsSeen {
  readonly #counts = new Map<string, Counts>()
  #uses = 0

  /** How many uses were counted. */
  get uses(): number {
    return this.#uses
  }

  see({
    credential,
    host,
    operation: done,
    status,
    bytes_sent: sent,
    bytes_received: received,
  }: Omit<UseItem, 'id'>): void {
    this.#uses++
    const isKnown = this.#counts.has(keyOf(credential, host, done))
    const operation = isKnown || this.#counts.size < mostOperations ? done : furtherOnes
    const key = keyOf(credential, host, operation)
    const known = this.#counts.get(key) ?? {
      ...{ credential, host, operation, uses: 0, failed: 0, bytes_sent: 0, bytes_received: 0 },
    }
    this.#counts.set(key, {
      ...known,
      uses: known.uses + 1,
      failed: known.failed + (status === undefined || status >= 400 ? 1 : 0),
      bytes_sent: known.bytes_sent + sent,
      bytes_received: known.bytes_received + received,
    })
  }

  /** What the record says about credentials. Empty if none was used. */
  told(): Pick<RunRecord, 'credentials'> {
    return this.#counts.size === 0 ? {} : { credentials: [...this.#counts.values()] }
  }
}

function keyOf(...parts: readonly string[]): string {
  return parts.join(' ')
}

/** Turns a use into an item of the event stream. */
export function useItem(use: CredentialUse): ItemDraft & { readonly type: 'credential_use' } {
  const { credential, host, operation, status, sent, received, durationMs } = use
  return {
    type: 'credential_use',
    ...{ credential, host, operation },
    ...(status === undefined ? {} : { status }),
    ...{ bytes_sent: sent, bytes_received: received, duration_ms: durationMs },
  }
}
