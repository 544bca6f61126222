import { exitCodes } from '../core/exit-codes.ts'

/**
 * How an attempt ended. The first four are answers: what the model made of the task. The others say that there is none: no sandbox, the provider
 * failed, nothing is left to use of what was bought of it, the repository could not be had, the process was lost, the run was not begun (exit code 2), somebody interrupted it.
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

/** Whether it is a result of the task. An error never is. */
export function isAnswer(outcome: Outcome): boolean {
  return answers.includes(outcome)
}

/** Whether another attempt may end better. */
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
 * What an exit code says.
 *
 * @param code undefined: the process was killed, or nobody saw its end
 * @param hasEnded whether the session has a terminal event. A run that failed before its first is an error of ours, no answer
 */
export function outcomeOf(code: number | undefined, hasEnded: boolean): Outcome {
  if (code === undefined) return 'lost'
  const outcome = byCode.get(code) ?? 'lost'
  return outcome === 'failed' && !hasEnded ? 'infrastructure' : outcome
}
