import type { HookedTask, TaskHooks } from '../tools/tasks/hooked-task.ts'
import type { Hooks } from './hooks.ts'

/**
 * Returns the functions that call a run's hooks when a background task is created or completed. If a hook ends the run, `stop` is called with the
 * reason.
 */
export function taskHooks(hooks: Hooks, stop: (reason: string) => void): TaskHooks {
  const ask = async (event: 'TaskCreated' | 'TaskCompleted', task: HookedTask): Promise<string | undefined> => {
    if (!hooks.has(event)) return undefined
    const { id, title, description, of } = task
    const outcome = await hooks.fire(event, {
      task_id: id,
      task_subject: title,
      ...(description === undefined ? {} : { task_description: description }),
      ...(of === undefined ? {} : { agent_id: of.id, agent_type: of.type }),
    })
    if (outcome.stop !== undefined) {
      stop(outcome.stop)
      return `A hook stopped the run: ${outcome.stop}`
    }
    return outcome.decision === 'deny' ? (outcome.reason ?? '') : undefined
  }
  return { created: (task) => ask('TaskCreated', task), completed: (task) => ask('TaskCompleted', task) }
}
