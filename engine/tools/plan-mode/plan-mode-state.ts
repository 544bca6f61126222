import type { Action } from '../../../policies/index.ts'
import { onlyReads } from '../only-reads.ts'

/** Who requested that nothing be changed before there is a plan. */
type PlanRequester = Extract<Action, { type: 'plan' }>['requestedBy']

type Options = {
  /** Who requested it at the start; undefined: nobody, and the run may change what it is allowed to. */
  readonly requestedBy: PlanRequester | undefined
  /** Whether the user ended the plan mode of a resumed session. Default: no. */
  readonly lifted?: boolean
  /** Records that plan mode begins, with who requested it, or (undefined) that it ends. */
  readonly note: (requestedBy: PlanRequester | undefined) => void
}

/** Whether a run only plans and may change nothing. Shared with its sub-agents. */
export class PlanMode {
  #requestedBy: PlanRequester | undefined
  #concluded: string | undefined
  readonly lifted: boolean
  readonly #note: Options['note']

  constructor({ requestedBy, lifted = false, note }: Options) {
    this.#requestedBy = requestedBy
    this.lifted = lifted
    this.#note = note
    if (requestedBy !== undefined || lifted) note(requestedBy)
  }

  /** Who requested it; undefined while plan mode is off. */
  get requestedBy(): PlanRequester | undefined {
    return this.#requestedBy
  }

  /** The plan that ends the run because nobody can approve it; undefined before. */
  get concluded(): string | undefined {
    return this.#concluded
  }

  /** The model wants to plan first. */
  enter(): void {
    this.#requestedBy = 'model'
    this.#note('model')
  }

  /** The plan was approved. */
  leave(): void {
    this.#requestedBy = undefined
    this.#note(undefined)
  }

  /** Nobody can approve the plan, so it is the result of the run. */
  conclude(plan: string): void {
    this.#concluded = plan
  }

  /** Why an action must not happen now; undefined outside plan mode, and for read-only actions. */
  refusal(action: Action): string | undefined {
    if (this.#requestedBy === undefined) return undefined
    const change = changeOf(action)
    return change === undefined ? undefined : inPlanMode(change)
  }

  /**
   * The same for a call that names no action.
   *
   * @param tool its name
   */
  refusalOfTool(tool: string): string | undefined {
    return this.#requestedBy === undefined ? undefined : inPlanMode(`${tool} is not known to only read`)
  }
}

function inPlanMode(why: string): string {
  return `Plan mode is on, in which nothing is changed: ${why}. Look further with what only reads; call exit_plan_mode with the plan when it is ready.`
}

/** In what an action is more than reading. */
function changeOf(action: Action): string | undefined {
  switch (action.type) {
    case 'exec':
      if (action.escalation !== undefined) return 'the command asks for more than the sandbox gives'
      return onlyReads(action.argv, action.cwd) ? undefined : 'the command is not proven to only read'
    case 'patch':
      return 'this changes files'
    case 'network':
      return `this connects to ${action.host}`
    case 'mcp':
      if (action.readOnlyHint === true) return undefined
      return `${action.tool} of the server ${action.server} is not known to only read`
    case 'read':
    case 'search':
    case 'plan':
      return undefined
    default:
      return action satisfies never
  }
}

/**
 * What the model is told about plan mode at the beginning of a run; undefined where there is nothing to tell.
 *
 * @param mayLeave whether it has `exit_plan_mode`: a sub-agent has not
 */
export function planModeNotice({ requestedBy, lifted }: PlanMode, mayLeave: boolean): string | undefined {
  if (requestedBy === undefined) {
    return lifted ? 'Plan mode is off by the user’s word: what was planned may be carried out.' : undefined
  }
  const end = mayLeave ? 'When the plan is ready, call exit_plan_mode with it.' : 'Report what you found and would do.'
  return (
    'Plan mode is on: find out what is to be done, and change nothing. Files can be read and searched, and commands run that only read; ' +
    `everything else is refused. ${end}`
  )
}
