import { showSteps } from '../tools/checklist.ts'
import { asSteps } from '../tools/todo.ts'
import { todoIn, type TodoEntry, type TodoList } from '../tools/todo-list.ts'
import type { Recorder } from './recorder.ts'
import type { RunOptions } from './run-options.ts'

/** Returns the task list at the end of the resumed session; empty if no session is resumed or the session has no list. */
export function todoOf({ resumedFrom }: RunOptions): readonly TodoEntry[] {
  return todoIn(resumedFrom?.original ?? [])
}

/** Shows the task list to the user if any task in it is unfinished. The model already knows the list from the conversation. */
export function showTodo({ entries }: TodoList, recorder: Recorder): void {
  if (entries.every(({ status }) => status === 'completed')) return
  showSteps(asSteps(entries), (draft) => recorder.open(draft))
}
