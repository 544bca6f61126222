import type { Task } from '../tools/tasks/background-tasks.ts'
import { describeState } from '../tools/tasks/describe-task.ts'
import type { WorkingState } from '../tools/working-state.ts'
import type { Conversation } from './conversation.ts'

/**
 * Between turns, tells the model which background tasks have ended. Each is reported once.
 *
 * @param isEnd whether the model is about to finish. If so, it is also told which tasks and commands are still running and would be stopped; each is named once
 * @returns whether there was anything to tell
 */
export function reportTasks(
  { tasks, sessions }: Pick<WorkingState, 'tasks' | 'sessions'>,
  conversation: Conversation,
  isEnd: boolean,
): boolean {
  const ended = tasks.takeEnded()
  const running = isEnd ? tasks.takeRunning() : []
  const ofTasks = new Set(tasks.all.map(({ work }) => work.known))
  const commands = isEnd ? sessions.takeUnmentioned((id) => ofTasks.has(`session ${id}`)) : []
  const parts = [
    ...(ended.length === 0 ? [] : [`Background tasks have ended. task_output shows their output.\n${lines(ended)}`]),
    ...(running.length === 0
      ? []
      : [`Background tasks are stopped when you finish. Wait with task_output for what you need.\n${lines(running)}`]),
    ...(commands.length === 0
      ? []
      : [
          'Commands that still run are stopped when you finish. If you need one of them, look at it with write_stdin before you finish.\n' +
            commands.map(({ id, line }) => `- session ${id}: ${line}`).join('\n'),
        ]),
  ]
  if (parts.length === 0) return false
  conversation.add({ type: 'message', role: 'developer', text: parts.join('\n\n') })
  return true
}

function lines(tasks: readonly Task[]): string {
  return tasks.map((task) => `- ${task.title}: ${describeState(task)}`).join('\n')
}
