import type * as z from 'zod'
import type { stepStatus } from './step-status.ts'
import type { ToolContext } from './tool.ts'

/** One line of a list of steps, as the user sees it. */
type Step = {
  readonly text: string
  readonly status: z.infer<typeof stepStatus>
  /** The step's id. Absent if the list identifies its steps only by position. */
  readonly id?: string
}

const marks = { completed: 'x', in_progress: '>', pending: ' ' } as const

/** Checks a list of steps. Returns a message for the model that says what is wrong; undefined if nothing is. */
export function checkSteps(tool: string, steps: readonly Pick<Step, 'status'>[]): string | undefined {
  return steps.filter(({ status }) => status === 'in_progress').length > 1
    ? `${tool}: more than one step is in progress. Work on one at a time.`
    : undefined
}

/** Renders the steps as lines of text. */
export function renderSteps(steps: readonly Step[]): string {
  return steps
    .map(({ text, status, id }) => `[${marks[status]}] ${id === undefined ? '' : `${id}: `}${text}`)
    .join('\n')
}

/** Shows a list of steps to the user. A later list replaces it. */
export function showSteps(steps: readonly Step[], startItem: ToolContext['startItem']): void {
  startItem({ type: 'todo_list', items: steps.map(asItem) }).complete({})
}

/** Converts a step to the format of the event stream. */
function asItem({ text, status, id }: Step): {
  text: string
  completed: boolean
  status: Step['status']
  id?: string
} {
  return { text, completed: status === 'completed', status, ...(id === undefined ? {} : { id }) }
}
