import type { BackgroundTasks } from '../../tools/tasks/background-tasks.ts'
import type { Conversation } from '../conversation.ts'
import type { Observer } from '../observer.ts'
import { reportTasks } from '../report-tasks.ts'

/** Tells the model the outcomes of background tasks. When the model is about to finish, also tells it which tasks would be stopped. */
export function tasksObserver(tasks: BackgroundTasks, conversation: Conversation): Observer {
  return {
    name: 'tasks',
    afterResponse: ({ called }) => {
      const told = reportTasks(tasks, conversation, called === 0)
      return told && called === 0 ? { type: 'ask' } : undefined
    },
  }
}
