import { exitCodes } from '../core/exit-codes.ts'

/**
 * The possible outcomes of an attempt. With the first four, the attempt has an answer, which counts as a result for the task. The others say why
 * there is no answer: no sandbox, a provider failure, an exhausted quota, another failure that says nothing about the task (such as an unavailable
 * repository or an internal error), a lost process, a run that did not begin because its options or its configuration were wrong (exit code 2), an
 * interruption, or a cancelled batch.
 */
export const outcomes = [
  'done',
  'failed',
  'denied',
  'budget',
  'sandbox',
  'provider',
  'quota',
  'infrastructure',
  'lost',
  'usage',
  'interrupted',
  'cancelled',
] as const

export type Outcome = (typeof outcomes)[number]

const answers: readonly Outcome[] = ['done', 'failed', 'denied', 'budget']
const repeated: readonly Outcome[] = ['sandbox', 'provider', 'quota', 'infrastructure', 'lost', 'interrupted']

/** Whether an attempt with this outcome has an answer, which counts as a result for the task. */
export function isAnswer(outcome: Outcome): boolean {
  return answers.includes(outcome)
}

/** Whether an attempt with this outcome is repeated, because another attempt may have a better outcome. */
export function isRepeated(outcome: Outcome): boolean {
  return repeated.includes(outcome)
}

const byCode: ReadonlyMap<number, Outcome> = new Map<number, Outcome>([
  [exitCodes.done, 'done'],
  [exitCodes.failed, 'failed'],
  [exitCodes.usage, 'usage'],
  [exitCodes.stoppedByGuardian, 'denied'],
  [exitCodes.budget, 'budget'],
  [exitCodes.sandboxUnavailable, 'sandbox'],
  [exitCodes.provider, 'provider'],
  [exitCodes.interrupted, 'interrupted'],
  [exitCodes.terminated, 'interrupted'],
])

/**
 * The outcome for an exit code.
 *
 * @param code the exit code; undefined if the process was killed, or if its end was not observed
 * @param hasEnded whether the session contains the last event of the run. If it doesn't, a failed run had an internal error, which is not an answer
 */
export function outcomeOf(code: number | undefined, hasEnded: boolean): Outcome {
  if (code === undefined) return 'lost'
  const outcome = byCode.get(code) ?? 'lost'
  return outcome === 'failed' && !hasEnded ? 'infrastructure' : outcome
}
