import { describeAnalysis } from '../commands/describe-analysis.ts'
import type { Action } from '../action.ts'
import { describeGrant } from '../grants.ts'
import type { Reviewer, ReviewerAnswer, ReviewRequest } from '../reviewer.ts'
import { proposeRule, suggestedBy, type ProposedRule } from './rule-proposal.ts'

/** A person's possible answers. `always` is offered only if there is a rule, and `rule` (for the rest of the run) only if the model suggests one. */
export type HumanChoice = 'once' | 'run' | 'rule' | 'always' | 'no' | 'stop'

/** What a person is shown when asked. */
export type HumanQuestion = {
  readonly request: ReviewRequest
  /** The action, as a list of lines. */
  readonly what: readonly string[]
  /** The known facts about the action, and why it requires approval. */
  readonly why: readonly string[]
  /** The rule that `always` would write, exactly as it would appear in the file. Undefined: there is none. */
  readonly rule: ProposedRule | undefined
  readonly choices: readonly HumanChoice[]
}

/** How a person is reached. */
export type HumanOptions = {
  /** Shows the question and waits for the answer. Rejects if nobody can answer. */
  readonly ask: (
    question: HumanQuestion,
    options: { readonly signal?: AbortSignal },
  ) => Promise<{ readonly choice: HumanChoice; readonly words?: string }>
  /** Adds a rule to the person's rule file. Without it, `rule` and `always` aren't offered. */
  readonly writeRule?: (rule: ProposedRule) => void
}

/**
 * Creates a reviewer that asks a person. With the answer `run`, this exact action is allowed for the rest of the run, and its grants apply to every
 * other action as well. With `rule`, a rule that the model suggested applies for the rest of the run. `always` does the same as `run`, and writes the
 * rule that the person has seen to a file. If the person gives a reason for a refusal, the model receives it.
 *
 * @example const reviewer = createHumanReviewer({ ask: async ({ what }) => ({ choice: what.includes('ls') ? 'once' : 'no' }) })
 */
export function createHumanReviewer({ ask, writeRule }: HumanOptions): Reviewer {
  const remembered = new Set<string>()
  // Only one question is open at a time, so no answer can go to the wrong question.
  let last: Promise<unknown> = Promise.resolve()
  const review: Reviewer['review'] = async (request, options) => {
    const key = keyOf(request.action)
    if (remembered.has(key)) return { outcome: 'allowed', reason: 'A person approved this for the rest of the run.' }
    const rule = writeRule === undefined || request.rule !== undefined ? undefined : proposeRule(request.action)
    const suggested = suggestedBy(request.action)
    const choices: readonly HumanChoice[] = [
      'once',
      // A plan can't be approved for the rest of the run, since the next plan is a different one.
      ...(request.action.type === 'plan' ? [] : (['run'] as const)),
      ...(rule === undefined || suggested === undefined ? [] : (['rule'] as const)),
      ...(rule === undefined ? [] : (['always'] as const)),
      'no',
      'stop',
    ]
    const question: HumanQuestion = {
      request,
      what: describeAction(request.action),
      why: whyAsked(request),
      rule,
      choices,
    }
    const { choice, words } = await ask(question, options)
    const said = words === undefined || words.trim() === '' ? '' : ` They said: ${words.trim()}`
    if (!choices.includes(choice))
      return { outcome: 'malformed', reason: `The answer ${choice} was not one of the choices.` }
    switch (choice) {
      case 'once':
        return { outcome: 'allowed', reason: `A person approved this once.${said}` }
      case 'run':
        remembered.add(key)
        return { outcome: 'allowed', reason: `A person approved this for the rest of the run.${said}`, scope: 'run' }
      case 'rule': {
        const accepted = suggested === undefined ? {} : { rule: suggested }
        return {
          outcome: 'allowed',
          reason: `A person approved this and similar commands for the rest of the run.${said}`,
          ...accepted,
        }
      }
      case 'always': {
        if (rule !== undefined) writeRule?.(rule)
        remembered.add(key)
        const accepted = rule?.kind === 'rule' ? { rule: rule.text } : {}
        const reason = `A person approved this, and added the rule ${rule?.text ?? ''}.${said}`
        return { outcome: 'allowed', reason, scope: 'run', ...accepted }
      }
      case 'no':
        return { outcome: 'denied', reason: `A person refused this.${said}` }
      case 'stop':
        return { outcome: 'aborted', reason: `A person stopped the run.${said}` }
      default:
        return { outcome: 'malformed', reason: `${String(choice satisfies never)} is not an answer.` }
    }
  }
  return {
    name: 'human',
    review: (request, options) => {
      const turn = last.then(() => review(request, options))
      last = turn.catch((): ReviewerAnswer => ({ outcome: 'unavailable', reason: '' }))
      return turn
    },
  }
}

type ExecAction = Extract<Action, { type: 'exec' }>

/** A key for comparing actions. Two actions have the same key only if all their fields are equal. */
function keyOf(action: Action): string {
  return JSON.stringify(action)
}

function describeAction(action: Action): readonly string[] {
  switch (action.type) {
    case 'exec': {
      const [, flag, script] = action.argv
      const isShell = action.argv.length === 3 && /^-l?c$/.test(flag ?? '')
      const asks = action.escalation === undefined ? [] : describeEscalation(action.escalation)
      return [isShell ? (script ?? '') : action.argv.join(' '), `in ${action.cwd}, sandbox ${action.sandbox}`, ...asks]
    }
    case 'patch':
      return action.changes.map(
        ({ kind, path, movedFrom }) => `${kind} ${path}${movedFrom === undefined ? '' : ` (from ${movedFrom})`}`,
      )
    case 'read':
      return [`read ${action.path}`]
    case 'network':
      return [`connect to ${action.host}:${action.port} (${action.protocol})`]
    case 'search':
      return [`let ${action.model} search ${action.domains?.join(', ') ?? 'the web'}`]
    case 'mcp':
      return [`call the tool ${action.tool} of the server ${action.server}`, JSON.stringify(action.arguments)]
    case 'plan':
      return ['leave plan mode, and carry out this plan:', '', ...action.plan.trimEnd().split('\n')]
    case 'land':
      return ["land the run's changes in your files", ...action.losses]
    default:
      return action satisfies never
  }
}

function describeEscalation({ justification, grants = [] }: NonNullable<ExecAction['escalation']>): readonly string[] {
  if (grants.length > 0) return [`asks for ${grants.map(describeGrant).join(', ')}: ${justification}`]
  return [
    `asks for more than the sandbox allows: ${justification}`,
    '(the command runs in the sandbox, and you are asked about each access that the sandbox refuses)',
  ]
}

function whyAsked({ reason, rule, analysis }: ReviewRequest): readonly string[] {
  const found = analysis === undefined ? [] : describeAnalysis(analysis).filter((fact) => !reason.includes(fact))
  return [reason, ...(rule === undefined ? [] : [`rule ${rule}`]), ...found]
}
