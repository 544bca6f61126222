/** A background task as hooks see it. */
export type HookedTask = {
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  /** The sub-agent that the task belongs to. Absent: it belongs to the run itself. */
  readonly of?: { readonly id: string; readonly type: string }
}

/** The hooks for background tasks. If one of these functions rejects, that counts as an objection. */
export type TaskHooks = {
  /** Called before a task begins. Returns why it must not begin; undefined if it may. */
  created(task: HookedTask): Promise<string | undefined>
  /** Called when a task's work has succeeded, before the task counts as done. Returns what is still wrong; undefined if nothing is. */
  completed(task: HookedTask): Promise<string | undefined>
}

/** No hooks: every task begins, and counts as done when its work has succeeded. */
export const noTaskHooks: TaskHooks = {
  created: () => Promise.resolve(undefined),
  completed: () => Promise.resolve(undefined),
}
