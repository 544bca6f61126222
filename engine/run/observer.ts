import type { ModelRequest } from '../core/model.ts'
import type { Refusal } from './denial-circuit-breaker.ts'
import type { Stop } from './stop.ts'

/** An observer's decision about what happens next in a run's loop. */
export type Verdict =
  /** The changed conversation is sent to the model immediately. */
  | { readonly type: 'ask' }
  /** The run ends normally. */
  | { readonly type: 'done' }
  | { readonly type: 'stop'; readonly stop: Stop }

/** A response whose calls all have results. */
export type Responded = {
  /** How many calls the response made. If it made none, the model is finished. */
  readonly called: number
  /** How many of these calls could not be made at all, because their tool doesn't exist or their arguments don't fit. */
  readonly unfit: number
  /** How many of these calls only handed work to an agent. */
  readonly delegated: number
  /** The calls that were refused. */
  readonly refusals: readonly Refusal[]
}

/** An observer's verdict; undefined if it has none, in which case the loop asks the next observer. */
type Opinion = Verdict | undefined

/**
 * Watches a run's loop and can change what it does next, for example because of a budget, a schema or hooks. The loop knows observers only through this
 * interface, and asks them in order; the first verdict counts.
 */
export type Observer = {
  readonly name: string
  /** Called before the model is asked. */
  readonly beforeRequest?: (request: ModelRequest) => Promise<Opinion> | Opinion
  /** Called when the model has answered; its calls may still be running. */
  readonly afterAnswer?: () => void
  /** Called when the model has answered and all its calls are complete. */
  readonly afterResponse?: (response: Responded) => Promise<Opinion> | Opinion
  /** Called when the run is about to end normally, because the model or another observer ended it. Without a verdict, the run ends. */
  readonly beforeEnd?: () => Promise<Opinion> | Opinion
  /** Called when a request to the model has failed. Without a verdict, the error ends the run. An observer may throw another error in its place. */
  readonly afterFailure?: (error: unknown) => Opinion
}

/** Asks observers in order and returns the first verdict. */
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
