/**
 * Returns a sentence about a hook's decision, with the reason if the hook gave one.
 *
 * @param decision the sentence without its full stop
 * @internal
 */
export function withReason(decision: string, reason: string | undefined): string {
  return reason === undefined || reason.trim() === '' ? `${decision}.` : `${decision}: ${reason}`
}
