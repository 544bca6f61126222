/** A background task as hooks see it. */
export type HookedTask = {
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  /** The agent whose task it is. Absent: the run's own. */
  readonly of?: { readonly id: string; readonly type: string }
}

/** What is asked about background tasks. A hook that rejects says no. */
export type TaskHooks = {
  /** Before a task begins. Gives why it must not. */
  created(task: HookedTask): Promise<string | undefined>
  /** Before a task that has ended well counts as done. Gives what is still amiss. */
  completed(task: HookedTask): Promise<string | undefined>
}

/** No hooks: every task begins, and counts as done when it has ended well. */
export const noTaskHooks: TaskHooks = {
  created: () => Promise.resolve(undefined),
  completed: () => Promise.resolve(undefined),
}
