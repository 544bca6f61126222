import type { Action, Guardian } from '../../policies/index.ts'
import type { WebSearchRequest } from '../core/model.ts'
import { reviewBy } from '../tools/review-call.ts'
import type { Recorder } from './recorder.ts'

/** The web search that the provider may run for the model if the Guardian agrees. */
export type WebSearchRequestOptions = {
  readonly request: WebSearchRequest
  readonly action: Extract<Action, { type: 'search' }>
}

/**
 * Asks the Guardian whether the provider may search the web. The Guardian is asked once, before the first request, because a provider's search can't be stopped
 * during an answer.
 *
 * @returns the web search for every request. If the Guardian refuses it, none is returned, and an item states the reason. If the user requires the search,
 * `refused` is returned instead: the reason to end the run
 */
export async function approveWebSearch(
  wish: WebSearchRequestOptions | undefined,
  {
    guardian,
    recorder,
    signal,
  }: { readonly guardian: Guardian; readonly recorder: Recorder; readonly signal: AbortSignal },
): Promise<{ readonly webSearch?: WebSearchRequest } | { readonly refused: string }> {
  if (wish === undefined) return {}
  const { verdict } = await reviewBy(guardian, { signal })(wish.action)
  if (verdict.decision === 'allow') return { webSearch: wish.request }
  if (wish.action.insisted === true)
    return { refused: `The web search that this run requires was refused: ${verdict.reason}` }
  recorder.complete({ type: 'error', message: `No web search in this run: ${verdict.reason}` })
  return {}
}
