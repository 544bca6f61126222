/** A background task as hooks see it. */
export type HookedTask = {
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  /** The agent whose task it is. Absent: the run's own. */
  readonly of?: { readonly id: string; readonly type: string }
}

/** The hooks about background tasks. A hook that rejects denies. */
export type TaskHooks = {
  /** Before a task begins. Returns why it must not. */
  created(task: HookedTask): Promise<string | undefined>
  /** Before a task that ended well counts as done. Returns what is still wrong. */
  completed(task: HookedTask): Promise<string | undefined>
}

/** No hooks: every task begins, and counts as done when it has ended well. */
export const noTaskHooks: TaskHooks = {
  created: () => Promise.resolve(undefined),
  completed: () => Promise.resolve(undefined),
}
