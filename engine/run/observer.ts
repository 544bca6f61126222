import type { ModelRequest } from '../core/model.ts'
import type { Refusal } from './denial-circuit-breaker.ts'
import type { Stop } from './stop.ts'

/** An observer's decision at a moment in a run's loop. Undefined: the loop asks the next observer. */
export type Verdict =
  /** Asks the model now, with what was added to the conversation or removed from it. */
  | { readonly type: 'ask' }
  /** The run is at its end, as it should be. */
  | { readonly type: 'done' }
  | { readonly type: 'stop'; readonly stop: Stop }

/** A response whose calls have come to their results. */
export type Responded = {
  /** How many calls it made. With none, the model is done. */
  readonly called: number
  /** How many of them were denied. */
  readonly refusals: readonly Refusal[]
}

type Opinion = Verdict | undefined

/**
 * Something that watches a run's loop and may have a say in it: a budget, a contract, hooks. The loop knows them by this shape alone and asks
 * them in their order; the first verdict counts.
 */
export type Observer = {
  readonly name: string
  /** Before the model is asked. */
  readonly beforeRequest?: (request: ModelRequest) => Promise<Opinion> | Opinion
  /** The model has answered; its calls may still be running. */
  readonly afterAnswer?: () => void
  /** After it has answered and everything that it called for is done. */
  readonly afterResponse?: (response: Responded) => Promise<Opinion> | Opinion
  /** The run is to end as it should, by the model or by another observer. Without a verdict it does. */
  readonly beforeEnd?: () => Promise<Opinion> | Opinion
  /** Where it could not be asked. Without a verdict the error ends the run; it may be put into other words here. */
  readonly afterFailure?: (error: unknown) => Opinion
}

/** The first verdict of a list of observers. */
export async function firstVerdict(
  observers: readonly Observer[],
  ask: (observer: Observer) => Promise<Opinion> | Opinion,
): Promise<Opinion> {
  for (const observer of observers) {
    const verdict = await ask(observer)
    if (verdict !== undefined) return verdict
  }
  return undefined
}
