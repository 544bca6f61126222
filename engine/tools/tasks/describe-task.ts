import type { Task } from './background-tasks.ts'

/** Describes the state of a task, its outcome, and what to do next, if anything. */
export function describeState(task: Task): string {
  return stateOf(task, task.end === undefined ? '' : `: ${task.end.how}`)
}

/** Describes the state of a task without its outcome. Used above the task's output, which already shows the outcome. */
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
        `${id} has ended${how}, but a TaskCompleted hook does not accept it as done. ${objection}\n` +
        'When you have fixed that, call task_update with status "completed" to ask the hook again.'
      )
    default:
      return status satisfies never
  }
}

/** Describes a task in one line of a list. */
export function describeLine(task: Task): string {
  const { id, title, status, work } = task
  return `${id} [${status}] ${title} (${work.kind}, ${work.known}, ${secondsOf(task)} s)`
}

/** Describes everything about a task except its output. */
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
