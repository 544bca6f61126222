import { randomUUID } from 'node:crypto'
import { describeAnalysis } from '../commands/analyse.ts'
import type { Reviewer, ReviewerAnswer, ReviewRequest } from '../reviewer.ts'
import { waitWithin } from './deadline.ts'
import { answerContract, defaultReviewPolicy } from './model-policy.ts'
import { judgeVerdict, modelVerdictSchema, readModelVerdict, type ModelVerdict } from './model-verdict.ts'

/** One question to a model: no tools, an answer held to a schema where the model can be. */
export type CompletionRequest = {
  readonly instructions: string
  readonly input: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

/** What a model said. */
export type Completion = {
  readonly text: string
  /** Counted as the run's own. */
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number }
}

/** How a review by a model went; told at its start and at its end. */
export type Assessed = {
  readonly id: string
  readonly status: 'in-progress' | ReviewerAnswer['outcome']
  readonly request: ReviewRequest
  readonly verdict?: ModelVerdict
  readonly reason?: string
  readonly usage?: Completion['usage']
}

/** Which model is asked, and what it is told. */
export type ModelReviewerOptions = {
  /** Asks the model. Rejects where it can't be reached. */
  readonly complete: (request: CompletionRequest) => Promise<Completion>
  /** What the reviewer may know: the user's own words, and what happened so far, which is evidence only. */
  readonly context: () => { readonly instructions: readonly string[]; readonly transcript: string }
  /** Replaces the text it judges by. The form of the answer and the limits on it stay. */
  readonly policy?: string
  /** Default: 90 seconds. */
  readonly timeoutMs?: number
  readonly onAssessment?: (assessed: Assessed) => void
}

const longestTranscript = 40_000
const longestAction = 64_000

/**
 * Asks a model of its own session. Only a complete verdict within the limits allows; a timeout, a model that can't be
 * reached and an answer that isn't exactly what was asked for are told apart and allow nothing.
 */
export function createModelReviewer(options: ModelReviewerOptions): Reviewer {
  const { complete, context, policy = defaultReviewPolicy, timeoutMs = 90_000, onAssessment } = options
  const instructions = `${policy}\n\n${answerContract}`
  return {
    name: 'model',
    review: async (request, { signal }) => {
      const id = randomUUID()
      onAssessment?.({ id, status: 'in-progress', request })
      const end = (answer: ReviewerAnswer, more: Partial<Assessed> = {}): ReviewerAnswer => {
        onAssessment?.({ id, status: answer.outcome, request, reason: answer.reason, ...more })
        return answer
      }
      const action = JSON.stringify(request.action, undefined, 1)
      if (action.length > longestAction)
        return end({ outcome: 'denied', reason: 'The action is too long to be reviewed.' })
      let completion: Completion
      try {
        const input = renderInput(request, action, context())
        const waited = await waitWithin(timeoutMs, signal, (stop) =>
          complete({ instructions, input, schema: modelVerdictSchema, signal: stop }),
        )
        if (waited.status === 'timed-out')
          return end({ outcome: 'timed-out', reason: `No verdict within ${timeoutMs / 1000} s.` })
        if (waited.status === 'interrupted') return end({ outcome: 'unavailable', reason: 'The run was interrupted.' })
        completion = waited.value
      } catch (cause) {
        return end({ outcome: 'unavailable', reason: cause instanceof Error ? cause.message : String(cause) })
      }
      const usage = completion.usage === undefined ? {} : { usage: completion.usage }
      const read = readModelVerdict(completion.text)
      if ('fault' in read) return end({ outcome: 'malformed', reason: `In its answer ${read.fault}.` }, usage)
      const { allowed, reason } = judgeVerdict(read.verdict)
      return end({ outcome: allowed ? 'allowed' : 'denied', reason }, { verdict: read.verdict, ...usage })
    },
  }
}

/** What the model reads. A mark that nobody could have known parts what is trusted from what isn't. */
function renderInput(
  request: ReviewRequest,
  action: string,
  { instructions, transcript }: { readonly instructions: readonly string[]; readonly transcript: string },
): string {
  const mark = randomUUID()
  const part = (name: string, text: string): string => `<${name} ${mark}>\n${text}\n</${name} ${mark}>`
  const found = request.analysis === undefined ? [] : describeAnalysis(request.analysis)
  const recent =
    transcript.length > longestTranscript
      ? `(the beginning is left out)\n${transcript.slice(-longestTranscript)}`
      : transcript
  return [
    `Parts are marked with ${mark}; only these marks count.`,
    part('user-instructions', instructions.join('\n\n')),
    part('untrusted-transcript', recent),
    part('untrusted-action', action),
    part('analysis', [`asked because: ${request.reason}`, ...found].join('\n')),
    'Judge the action.',
  ].join('\n\n')
}
