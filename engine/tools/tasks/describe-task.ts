import type { Task } from './background-tasks.ts'

/** The state of a task and how it ended, in a sentence that says what to do next, if anything. */
export function describeState(task: Task): string {
  return stateOf(task, task.end === undefined ? '' : `: ${task.end.how}`)
}

/** The same before the output of the task, which says how it ended. */
export function describeStateBriefly(task: Task): string {
  return stateOf(task, '')
}

function stateOf({ id, status, objection = '' }: Task, how: string): string {
  switch (status) {
    case 'running':
      return `${id} is running.`
    case 'completed':
      return `${id} is completed${how}.`
    case 'failed':
      return `${id} has failed${how}.`
    case 'stopped':
      return `${id} was stopped${how}.`
    case 'incomplete':
      return (
        `${id} has ended${how}, and a TaskCompleted hook does not take it for done. ${objection}\n` +
        'When that is mended, task_update with status "completed" asks the hook again.'
      )
    default:
      return status satisfies never
  }
}

/** A task in one line of a list. */
export function describeLine(task: Task): string {
  const { id, title, status, work } = task
  return `${id} [${status}] ${title} (${work.kind}, ${work.known}, ${secondsOf(task)} s)`
}

/** All facts about a task except its output. */
export function describeTask(task: Task): string {
  const { title, description, notes } = task
  return [
    `${title} (${task.work.kind}, ${task.work.known}, ${secondsOf(task)} s)`,
    describeState(task),
    ...(description === undefined ? [] : [`Description: ${description}`]),
    ...notes.map((note) => `Note: ${note}`),
  ].join('\n')
}

function secondsOf({ started, end }: Task): string {
  return (((end?.at ?? performance.now()) - started) / 1000).toFixed(1)
}
