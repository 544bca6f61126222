import type { Action } from '../../../policies/index.ts'
import { onlyReads } from '../only-reads.ts'

/** Who requested plan mode. */
type PlanRequester = Extract<Action, { type: 'plan' }>['requestedBy']

type Options = {
  /** Who requested plan mode at the start; undefined if the run doesn't begin in plan mode. */
  readonly requestedBy: PlanRequester | undefined
  /** Whether the user turned off the plan mode of a resumed session. Default: false. */
  readonly lifted?: boolean
  /** Records that plan mode has begun, and who requested it; called with `undefined`, records that plan mode has ended. */
  readonly note: (requestedBy: PlanRequester | undefined) => void
}

/** The plan mode of a run: while it is on, nothing may be changed. Shared with the run's sub-agents. */
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

  /** Who requested plan mode; undefined while it is off. */
  get requestedBy(): PlanRequester | undefined {
    return this.#requestedBy
  }

  /** The plan that ends the run because nobody can approve it; undefined if there is none. */
  get concluded(): string | undefined {
    return this.#concluded
  }

  /** Turns plan mode on at the model's own request. */
  enter(): void {
    this.#requestedBy = 'model'
    this.#note('model')
  }

  /** Turns plan mode off, so that the plan can be carried out. */
  leave(): void {
    this.#requestedBy = undefined
    this.#note(undefined)
  }

  /** Records the plan as the result of the run, because nobody can approve it. */
  conclude(plan: string): void {
    this.#concluded = plan
  }

  /** Returns why an action is refused now; undefined outside plan mode, and for actions that only read, search the web, or present the plan. */
  refusal(action: Action): string | undefined {
    if (this.#requestedBy === undefined) return undefined
    const change = changeOf(action)
    return change === undefined ? undefined : inPlanMode(change)
  }

  /**
   * Returns why a call that has no action for the Guardian to review is refused now; undefined outside plan mode.
   *
   * @param tool the tool's name
   */
  refusalOfTool(tool: string): string | undefined {
    return this.#requestedBy === undefined ? undefined : inPlanMode(`${tool} is not known to be read-only`)
  }
}

function inPlanMode(why: string): string {
  return `Plan mode is on, so nothing may be changed: ${why}. Continue with tools that only read, and call exit_plan_mode when the plan is ready.`
}

/** Says why an action is not allowed in plan mode; undefined if it only reads, searches the web, or presents the plan. */
function changeOf(action: Action): string | undefined {
  switch (action.type) {
    case 'exec':
      if (action.escalation !== undefined) return 'the command asks for more than the sandbox allows'
      return onlyReads(action.argv, action.cwd) ? undefined : 'the command is not proven to be read-only'
    case 'patch':
      return 'this changes files'
    case 'network':
      return `this connects to ${action.host}`
    case 'mcp':
      if (action.readOnlyHint === true) return undefined
      return `${action.tool} of the server ${action.server} is not known to be read-only`
    case 'read':
    case 'search':
    case 'plan':
    case 'land':
      return undefined
    default:
      return action satisfies never
  }
}

/**
 * Returns the notice about plan mode that the model gets at the beginning of a run; undefined if none is needed.
 *
 * @param mayLeave whether the model has `exit_plan_mode`, which a sub-agent doesn't have
 */
export function planModeNotice({ requestedBy, lifted }: PlanMode, mayLeave: boolean): string | undefined {
  if (requestedBy === undefined) {
    return lifted ? 'The user has turned plan mode off: you may carry out the plan.' : undefined
  }
  const end = mayLeave
    ? 'When the plan is ready, call exit_plan_mode with it.'
    : 'Report what you found and what you would do.'
  return (
    'Plan mode is on: find out what needs to be done, but change nothing. You can read and search files, and run commands that only read; ' +
    `everything else is refused. ${end}`
  )
}
