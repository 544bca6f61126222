import type { Reviewer, ReviewRequest } from '../../policies/index.ts'
import type { AssessmentItem } from '../core/events.ts'
import { shellJoin } from '../core/text/shell-join.ts'
import type { RunContext } from '../tools/run-context.ts'

const outcomes = {
  allowed: 'allow',
  denied: 'deny',
  aborted: 'abort',
  'timed-out': 'timed-out',
  unavailable: 'unavailable',
  malformed: 'malformed',
} as const

/**
 * Reports every question to a reviewer as an item in the event stream, with the duration and token usage of the answer.
 *
 * @param make creates the reviewer from a function that records the token usage of its answers
 */
export function reported(runContext: RunContext, make: (spend: RunContext['spend']) => Reviewer): Reviewer {
  let used: AssessmentItem['usage']
  const reviewer = make((usage, model) => {
    runContext.spend(usage, model)
    used = {
      input_tokens: (used?.input_tokens ?? 0) + usage.inputTokens,
      output_tokens: (used?.output_tokens ?? 0) + usage.outputTokens,
    }
  })
  const review: Reviewer['review'] = async (request, options) => {
    const started = performance.now()
    const item = runContext.open({
      type: 'guardian_assessment',
      reviewer: reviewer.name,
      status: 'in_progress',
      action: subjectOf(request),
      asked_because: request.reason,
      ...(request.subject === undefined ? {} : { call_id: request.subject }),
    })
    used = undefined
    const end = (outcome: AssessmentItem['outcome'], rationale: string, more: Partial<AssessmentItem> = {}): void =>
      item.complete({
        status: 'completed',
        outcome,
        rationale,
        duration_ms: Math.round(performance.now() - started),
        ...(used === undefined ? {} : { usage: used }),
        ...more,
      })
    try {
      const answer = await reviewer.review(request, options)
      end(outcomes[answer.outcome], answer.reason, answer.assessment)
      return answer
    } catch (cause) {
      end('unavailable', cause instanceof Error ? cause.message : String(cause))
      throw cause
    }
  }
  // Questions are asked one after the other, so that usage is attributed to the right question.
  let last: Promise<unknown> = Promise.resolve()
  return {
    name: reviewer.name,
    review: (request, options) => {
      const turn = last.then(() => review(request, options))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

/** Describes an action in one line. */
function subjectOf({ action }: ReviewRequest): string {
  switch (action.type) {
    case 'exec':
      return shellJoin(action.argv)
    case 'patch':
      return `patch to ${action.changes.map(({ path }) => path).join(', ')}`
    case 'read':
      return `read ${action.path}`
    case 'network':
      return `connect to ${action.host}:${action.port}`
    case 'search':
      return 'web search by the provider'
    case 'mcp':
      return `mcp__${action.server}__${action.tool}`
    case 'plan':
      return 'leave plan mode'
    case 'land':
      return 'land the changes'
    default:
      return action satisfies never
  }
}
