import type { TaskHooks } from './hooked-task.ts'
import type { ToolResult } from '../tool-result.ts'

/** The work of a background task: a command or a sub-agent. */
export type TaskWork = {
  readonly kind: 'command' | 'agent'
  /** The name by which other tools refer to the work: the id of a session or an agent. */
  readonly known: string
  /** Resolves when the work has ended. Never rejects. */
  readonly ended: Promise<TaskEnd>
  /**
   * Returns the output that has arrived since this method was last called.
   *
   * @param waitedMs how long the call has waited for the work to end
   */
  look(options: { readonly waitedMs: number; readonly maxTokens: number | undefined }): Promise<ToolResult>
  /** Stops the work. */
  stop(): void
}

/** The outcome of a task's work: whether it succeeded, and a description. */
type TaskEnd = { readonly ok: boolean; readonly how: string }

/** The status of a task. `incomplete`: its work succeeded, but a hook does not accept the task as done. */
type TaskStatus = 'running' | 'completed' | 'failed' | 'stopped' | 'incomplete'

/** The current state of a task. */
export type Task = {
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  readonly status: TaskStatus
  /** When the task was started, according to `performance.now()`. */
  readonly started: number
  /** How and when the task ended. Undefined until the work has ended and the hooks have decided whether the task counts as done. */
  readonly end: { readonly how: string; readonly at: number } | undefined
  /** Why a hook does not accept the task as done. */
  readonly objection: string | undefined
  /** The model's notes on the task, oldest first. */
  readonly notes: readonly string[]
  readonly work: TaskWork
  /** Resolves when the task has ended and the hooks have answered. */
  readonly settled: Promise<void>
}

/** The fields of a task that may be changed. */
type TaskChange = {
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** A note to add to the task's notes. */
  readonly note?: string | undefined
}

/** How many tasks may run at the same time. */
export const mostTasks = 16
/** How many ended tasks are remembered after the model has been told about them. */
const mostRemembered = 100

type TaskState = { -readonly [Key in keyof Task]: Task[Key] } & { told: boolean; warned: boolean }

/**
 * The background tasks of a run: the titles, notes and results of work that is done elsewhere (by a command session or a sub-agent). The tasks end with the
 * run.
 */
export class BackgroundTasks {
  readonly #hooks: TaskHooks
  readonly #tasks = new Map<string, TaskState>()
  #next = 1

  /**
   * @param hooks the hooks that are asked before a task begins and before it counts as done
   */
  constructor(hooks: TaskHooks) {
    this.#hooks = hooks
  }

  /** All remembered tasks, oldest first. */
  get all(): readonly Task[] {
    return [...this.#tasks.values()]
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id)
  }

  /**
   * Begins a task.
   *
   * @param start starts the task's work and returns it or, if that fails, returns the result of the call
   */
  async create(
    named: Pick<Task, 'title' | 'description'>,
    start: () => Promise<TaskWork | ToolResult>,
  ): Promise<{ readonly task: Task } | { readonly result: ToolResult }> {
    const running = this.#running
    if (running.length >= mostTasks) {
      const ids = running.map(({ id }) => id).join(', ')
      const output = `${mostTasks} tasks are already running (${ids}): wait for some with task_output, or stop some with task_stop.`
      return { result: { ok: false, output } }
    }
    const id = `task-${this.#next++}`
    const refused = await asked(() => this.#hooks.created({ id, ...named }))
    if (refused !== undefined) {
      return { result: { ok: false, output: `The task was not created: a TaskCreated hook refused it. ${refused}` } }
    }
    const work = await start()
    if ('output' in work) return { result: work }
    const task: TaskState = {
      id,
      ...named,
      status: 'running',
      started: performance.now(),
      end: undefined,
      objection: undefined,
      notes: [],
      work,
      settled: Promise.resolve(),
      told: false,
      warned: false,
    }
    task.settled = this.#settle(task)
    this.#tasks.set(id, task)
    this.#forget()
    return { task }
  }

  /** Changes the fields of a task. */
  change(id: string, { title, description, note }: TaskChange): void {
    const task = this.#kept(id)
    if (title !== undefined) task.title = title
    if (description !== undefined) task.description = description
    if (note !== undefined) task.notes = [...task.notes, note]
  }

  /** Asks the hooks again about a task that they did not accept as done. */
  async complete(id: string): Promise<void> {
    const task = this.#kept(id)
    if (task.status === 'incomplete') await this.#judge(task)
  }

  /** Stops a task and waits until it has ended. A task that has already ended stays unchanged. */
  async stop(id: string): Promise<void> {
    const task = this.#kept(id)
    if (task.status === 'running') {
      task.status = 'stopped'
      task.work.stop()
    }
    await task.settled
  }

  /** Records that the model knows how a task ended, so that the model isn't told again. */
  tell(id: string): void {
    const task = this.#kept(id)
    if (task.end !== undefined) task.told = true
  }

  /** Returns the ended tasks that the model hasn't been told about. Each is returned only once. */
  takeEnded(): readonly Task[] {
    const ended = [...this.#tasks.values()].filter(({ told, end }) => !told && end !== undefined)
    for (const task of ended) task.told = true
    return ended
  }

  /** Returns the tasks that would be cut off if the run ended now, except those that an earlier call has returned. */
  takeRunning(): readonly Task[] {
    const running = this.#running.filter(({ warned }) => !warned)
    for (const task of running) task.warned = true
    return running
  }

  /** Stops all running tasks. Resolves when they have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#tasks.keys()].map((id) => this.stop(id)))
  }

  get #running(): readonly TaskState[] {
    return [...this.#tasks.values()].filter(({ end }) => end === undefined)
  }

  #kept(id: string): TaskState {
    const task = this.#tasks.get(id)
    if (task === undefined) throw new TypeError(`there is no ${id}`)
    return task
  }

  async #settle(task: TaskState): Promise<void> {
    const { ok, how } = await task.work.ended
    const at = performance.now()
    if (task.status === 'running' && ok) await this.#judge(task)
    else if (task.status === 'running') task.status = 'failed'
    task.end = { how, at }
  }

  async #judge(task: TaskState): Promise<void> {
    const { id, title, description } = task
    task.objection = await asked(() => this.#hooks.completed({ id, title, description }))
    // The task may have been stopped while the hooks were running.
    if (task.status !== 'stopped') task.status = task.objection === undefined ? 'completed' : 'incomplete'
  }

  /** Keeps the list short by dropping the oldest finished tasks that the model has been told about. */
  #forget(): void {
    const ended = [...this.#tasks.values()].filter(({ told, end }) => told && end !== undefined)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - mostRemembered))) this.#tasks.delete(id)
  }
}

/** Asks a hook, and returns its objection; undefined if it has none. If the hook fails, that counts as an objection. */
async function asked(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await ask()
  } catch (error) {
    return `The hook could not be asked: ${error instanceof Error ? error.message : String(error)}`
  }
}
