import type { HandlerResult } from './handler-result.ts'
import type { HookOutput } from './output.ts'

/** The result of one handler of an event. */
export type HookAnswer = {
  readonly result: HandlerResult
  /** Whether a failure of the handler counts as a denial. */
  readonly blocksOnFailure: boolean
  /** The handler's name in messages. */
  readonly name: string
}

/** The merged answer of all hooks of an event. A field is absent if no hook set it. */
export type HookOutcome = {
  /** The strictest decision of the hooks: `deny` beats `ask`, and `ask` beats `allow`. Even `allow` doesn't override a rule that denies or asks. */
  readonly decision?: 'deny' | 'ask' | 'allow'
  readonly reason?: string
  /** The input that replaces the call's own input. If several hooks gave one, the last one is used. */
  readonly updatedInput?: Readonly<Record<string, unknown>>
  readonly updatedOutput?: string
  /** Additional texts for the model. */
  readonly context: readonly string[]
  /** The reason why a hook ends the run. Absent: no hook ends it. */
  readonly stop?: string
  /** The fields of the model's request that a `BeforeModel` hook replaces. */
  readonly modelRequest?: Readonly<Record<string, unknown>>
  /** An answer that a hook gave in place of the model. */
  readonly modelResponse?: Readonly<Record<string, unknown>>
  /** The only tools that the model may call next. */
  readonly allowedTools?: readonly string[]
}

const order = ['deny', 'ask', 'allow'] as const

/**
 * Merges the answers of an event's hooks.
 *
 * @param text how an answer that is plain text is used: as context for the model. Default: it is ignored
 */
export function combineAnswers(answers: readonly HookAnswer[], text?: 'context'): HookOutcome {
  const opinions = answers.flatMap(opinionOf)
  const strictest = order.find((decision) => opinions.some((one) => one.decision === decision))
  const outputs = answers.flatMap(({ result }) => (result.status === 'answered' ? [result] : []))
  const outcome: { -readonly [Key in keyof HookOutcome]: HookOutcome[Key] } = {
    context: outputs.flatMap(({ output, text: said }) => [
      ...(output.hookSpecificOutput?.additionalContext === undefined
        ? []
        : [output.hookSpecificOutput.additionalContext]),
      ...(text === 'context' && said !== '' ? [said] : []),
    ]),
  }
  if (strictest !== undefined) {
    outcome.decision = strictest
    outcome.reason = opinions
      .filter(({ decision }) => decision === strictest)
      .map(({ reason }) => reason)
      .join(' ')
  }
  for (const { output } of outputs) Object.assign(outcome, wishesOf(output))
  const requests = outputs.flatMap(({ output }) => output.hookSpecificOutput?.llm_request ?? [])
  if (requests.length > 0) outcome.modelRequest = Object.assign({}, ...requests) as Record<string, unknown>
  const choices = outputs.map(({ output }) => output.hookSpecificOutput?.toolConfig)
  const tools = allowedTools(choices.filter((choice) => choice !== undefined))
  if (tools !== undefined) outcome.allowedTools = tools
  return outcome
}

type Opinion = { readonly decision: (typeof order)[number]; readonly reason: string }

function opinionOf({ result, name, blocksOnFailure }: HookAnswer): readonly Opinion[] {
  if (result.status === 'blocked') return [{ decision: 'deny', reason: result.reason }]
  if (result.status === 'failed') {
    if (!blocksOnFailure) return []
    const advice =
      'A guard hook that fails blocks the action that it guards. To let such an action continue, set "onError": "continue" on this hook.'
    return [{ decision: 'deny', reason: `The hook ${name} failed: ${result.reason}. ${advice}` }]
  }
  const { hookSpecificOutput: specific, decision, reason } = result.output
  const unexplained = `The hook ${name} gave no reason.`
  if (specific?.permissionDecision !== undefined) {
    // `defer` would leave the call to a later process. That isn't possible here, so the user is asked now.
    const said = specific.permissionDecision === 'defer' ? 'ask' : specific.permissionDecision
    return [{ decision: said, reason: specific.permissionDecisionReason ?? reason ?? unexplained }]
  }
  if (specific?.decision !== undefined) {
    return [{ decision: specific.decision.behavior, reason: specific.decision.message ?? unexplained }]
  }
  switch (decision) {
    case 'block':
    case 'deny':
      return [{ decision: 'deny', reason: reason ?? unexplained }]
    case 'approve':
    case 'allow':
      return [{ decision: 'allow', reason: reason ?? unexplained }]
    case 'ask':
      return [{ decision: 'ask', reason: reason ?? unexplained }]
    case undefined:
      return []
    default:
      return decision satisfies never
  }
}

function wishesOf({ continue: goOn, stopReason, hookSpecificOutput: specific }: HookOutput): Partial<HookOutcome> {
  const input = specific?.updatedInput ?? specific?.decision?.updatedInput
  const output = specific?.updatedToolOutput ?? specific?.updatedMCPToolOutput
  const { behavior, interrupt, message } = specific?.decision ?? {}
  return {
    ...(goOn === false ? { stop: stopReason ?? 'it gave no reason' } : {}),
    ...(behavior === 'deny' && interrupt === true ? { stop: message ?? 'it gave no reason' } : {}),
    ...(input === undefined ? {} : { updatedInput: input }),
    ...(output === undefined ? {} : { updatedOutput: typeof output === 'string' ? output : JSON.stringify(output) }),
    ...(specific?.llm_response === undefined ? {} : { modelResponse: specific.llm_response }),
  }
}

type ToolChoice = NonNullable<NonNullable<HookOutput['hookSpecificOutput']>['toolConfig']>

/**
 * Merges several choices of tools by Gemini's rules: `NONE` beats everything, and lists are joined. `ANY` doesn't force a call, because a model that must call
 * a tool could never finish.
 */
function allowedTools(choices: readonly ToolChoice[]): readonly string[] | undefined {
  if (choices.some(({ mode }) => mode === 'NONE')) return []
  const lists = choices.flatMap(({ allowedFunctionNames: names }) => (names === undefined ? [] : [names]))
  return lists.length === 0 ? undefined : [...new Set(lists.flat())]
}
