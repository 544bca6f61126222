import { createModelReviewer, type CompletionRequest, type Reviewer } from '../../policies/index.ts'
import { ModelError, type HistoryItem, type Model } from '../core/model.ts'
import type { RunContext } from '../tools/run-context.ts'

/** The model that reviews actions, and the options for its reviews. */
type ModelReviewing = {
  readonly model: Model
  readonly runContext: RunContext
  readonly spend: RunContext['spend']
  /** Replaces the policy text that the model applies. Undefined: the built-in policy. */
  readonly policy: string | undefined
  /** How long a verdict may take, including retries. Undefined: the reviewer's default. */
  readonly timeoutMs: number | undefined
}

/** Creates a reviewer that asks a model. Each review is a separate conversation without tools: one message and one answer. */
export function modelReviewer({ model, runContext, spend, policy, timeoutMs }: ModelReviewing): Reviewer {
  return createModelReviewer({
    complete: (request) => complete(model, request, runContext, spend),
    context: () => ({
      instructions: runContext.prompts,
      ...(runContext.material === '' ? {} : { material: runContext.material }),
      transcript: transcript(runContext.history()),
    }),
    ...(policy === undefined ? {} : { policy }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
}

async function complete(
  model: Model,
  { instructions, input, schema, signal }: CompletionRequest,
  runContext: RunContext,
  spend: RunContext['spend'],
): Promise<string> {
  const exhausted = runContext.exhausted()
  if (exhausted !== undefined) throw new Error(exhausted)
  const request = {
    instructions,
    tools: [],
    history: [{ type: 'message', role: 'user', text: input } as const],
    threadId: 'review',
    outputSchema: { name: 'verdict', schema },
  }
  let said: string[] = []
  try {
    for await (const event of runContext.within(model).respond(request, signal)) {
      if (event.type === 'message') said.push(event.text)
      if (event.type === 'tool_call') throw new Error('the reviewing model called a tool, although it was offered none')
      if (event.type === 'retry') {
        said = []
        if (event.spent !== undefined) spend(event.spent, model.name)
      }
      if (event.type === 'cut') spend(event.spent, model.name)
      if (event.type === 'end') {
        spend(event.usage, model.name)
        return said.join('\n')
      }
    }
  } catch (error) {
    if (error instanceof ModelError && error.spent !== undefined) spend(error.spent, model.name)
    throw error
  }
  throw new Error("the reviewing model's answer ended early")
}

/**
 * Renders the agent's messages and tool calls as text. The output of the calls is left out, because it may come from files and web pages, which could
 * contain text that tries to influence the reviewer.
 */
function transcript(history: readonly HistoryItem[]): string {
  return history
    .flatMap((item) => {
      if (item.type === 'message' && item.role === 'assistant') return [`agent: ${item.text}`]
      if (item.type === 'tool_call') return [`call ${item.call.name}: ${item.call.input}`]
      if (item.type === 'tool_result') return [`result: ${item.ok ? 'ok' : 'not ok'}`]
      return []
    })
    .join('\n')
}
