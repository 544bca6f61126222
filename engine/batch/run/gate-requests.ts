import type { RunMessage, SupervisorMessage } from './supervisor-messages.ts'
import type { RequestLimiter } from './rate-limiter.ts'
import type { Admission } from '../../core/request-gate.ts'

/** Forwards a run's messages about its provider requests to the rate limiter that all runs share. */
export class GateOfRun {
  readonly #limiter: RequestLimiter
  readonly #owner: string
  readonly #inside = new Map<number, Admission>()
  #isGone = false
  #isUsedUp = false
  #retryAt: number | undefined

  /** @param owner a name that identifies the run, and that no other run has */
  constructor(limiter: RequestLimiter, owner: string) {
    this.#limiter = limiter
    this.#owner = owner
  }

  /** Whether a provider reported an exhausted quota. */
  get isUsedUp(): boolean {
    return this.#isUsedUp
  }

  /** When quota will be available again, in milliseconds since 1970; undefined if the provider doesn't say. */
  get retryAt(): number | undefined {
    return this.#retryAt
  }

  said(message: RunMessage, answer: (message: SupervisorMessage) => void): void {
    switch (message.type) {
      case 'enter': {
        const { account, tokens, id } = message
        return this.#limiter.enter(account, tokens, this.#owner, (left, arrived) => {
          if (this.#isGone) return left({ type: 'failed', kind: 'other' })
          this.#inside.set(id, { left, arrived })
          answer({ type: 'entered', id })
        })
      }
      case 'arrived':
        return this.#inside.get(message.id)?.arrived()
      case 'left':
        if (message.end.type === 'failed' && message.end.kind === 'quota') {
          this.#isUsedUp = true
          const { waitMs } = message.end
          this.#retryAt = waitMs === undefined ? undefined : Date.now() + waitMs
        }
        this.#inside.get(message.id)?.left(message.end)
        this.#inside.delete(message.id)
        return undefined
      case 'heard':
        return this.#limiter.heard(message.account, { requests: message.requests, tokens: message.tokens })
      case 'began':
      case 'step':
      case 'spent':
        return undefined
      default:
        return message satisfies never
    }
  }

  /**
   * Drops the requests of the run that are still waiting. Call this when the run has ended. Requests that were already sent still count towards the
   * limits.
   */
  gone(): void {
    this.#isGone = true
    this.#limiter.leave(this.#owner)
    this.#inside.clear()
  }
}
