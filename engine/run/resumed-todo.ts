import { showSteps } from '../tools/checklist.ts'
import { asSteps } from '../tools/todo.ts'
import { todoIn, type TodoEntry, type TodoList } from '../tools/todo-list.ts'
import type { Recorder } from './recorder.ts'
import type { RunOptions } from './run-options.ts'

/** The tasks that were still open when the resumed session ended. */
export function todoOf({ resumedFrom }: RunOptions): readonly TodoEntry[] {
  return todoIn(resumedFrom?.original ?? [])
}

/** Shows open tasks to the user. The model already knows them from the conversation. */
export function showTodo({ entries }: TodoList, recorder: Recorder): void {
  if (entries.every(({ status }) => status === 'completed')) return
  showSteps(asSteps(entries), (draft) => recorder.open(draft))
}
