import type { TaskHooks } from './hooked-task.ts'
import type { ToolResult } from '../tool-result.ts'

/** Work in the background. */
export type TaskWork = {
  readonly kind: 'command' | 'agent'
  /** Its id in other tools: of a session, of an agent. */
  readonly known: string
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<TaskEnd>
  /**
   * Its output since the last call.
   *
   * @param waitedMs how long the call has waited for its end
   */
  look(options: { readonly waitedMs: number; readonly maxTokens: number | undefined }): Promise<ToolResult>
  /** Ends it. */
  stop(): void
}

/** How work ended: whether it succeeded, and in words. */
type TaskEnd = { readonly ok: boolean; readonly how: string }

/**
 * How far a task is. `incomplete`: it has ended well, and a hook does not take it for done.
 */
type TaskStatus = 'running' | 'completed' | 'failed' | 'stopped' | 'incomplete'

/** The current state of a task. */
export type Task = {
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  readonly status: TaskStatus
  /** By `performance.now()`. */
  readonly started: number
  /** How it ended, and when. Undefined: it has not, or hooks are being asked. */
  readonly end: { readonly how: string; readonly at: number } | undefined
  /** Why a hook does not take it for done. */
  readonly objection: string | undefined
  /** What the model noted on it, oldest first. */
  readonly notes: readonly string[]
  readonly work: TaskWork
  /** Resolves when it has ended and hooks were asked. */
  readonly settled: Promise<void>
}

/** The fields of a task that may be changed. */
type TaskChange = {
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Added to its notes. */
  readonly note?: string | undefined
}

/** How many tasks may run at once. */
export const mostTasks = 16
/** How many tasks are remembered that have ended. */
const mostRemembered = 100

type TaskState = { -readonly [Key in keyof Task]: Task[Key] } & { told: boolean; warned: boolean }

/**
 * The background tasks of a run: names, notes and ends of work that other parts do (a command among the sessions, a sub-agent). They end
 * with the run.
 */
export class BackgroundTasks {
  readonly #hooks: TaskHooks
  readonly #tasks = new Map<string, TaskState>()
  #next = 1

  /** @param hooks asked before a task begins and before it counts as done */
  constructor(hooks: TaskHooks) {
    this.#hooks = hooks
  }

  /** All that are remembered, oldest first. */
  get all(): readonly Task[] {
    return [...this.#tasks.values()]
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id)
  }

  /**
   * Begins a task.
   *
   * @param start starts its work, or gives the result of a call that failed to start it
   */
  async create(
    named: Pick<Task, 'title' | 'description'>,
    start: () => Promise<TaskWork | ToolResult>,
  ): Promise<{ readonly task: Task } | { readonly result: ToolResult }> {
    const running = this.#running
    if (running.length >= mostTasks) {
      const ids = running.map(({ id }) => id).join(', ')
      const output = `${mostTasks} tasks are running already (${ids}): wait for some with task_output, or end them with task_stop.`
      return { result: { ok: false, output } }
    }
    const id = `task-${this.#next++}`
    const refused = await asked(() => this.#hooks.created({ id, ...named }))
    if (refused !== undefined) {
      return { result: { ok: false, output: `The task was not created: a TaskCreated hook said no. ${refused}` } }
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

  /** Asks the hooks once more whether a task that they did not take for done is done now. */
  async complete(id: string): Promise<void> {
    const task = this.#kept(id)
    if (task.status === 'incomplete') await this.#judge(task)
  }

  /** Ends a task and waits for that. A task that has ended stays unchanged. */
  async stop(id: string): Promise<void> {
    const task = this.#kept(id)
    if (task.status === 'running') {
      task.status = 'stopped'
      task.work.stop()
    }
    await task.settled
  }

  /** The model has been told how a task ended: it is not told again. */
  tell(id: string): void {
    const task = this.#kept(id)
    if (task.end !== undefined) task.told = true
  }

  /** Tasks that have ended and that the model hasn't been told about. Each is given once. */
  takeEnded(): readonly Task[] {
    const ended = [...this.#tasks.values()].filter(({ told, end }) => !told && end !== undefined)
    for (const task of ended) task.told = true
    return ended
  }

  /** Tasks that would be cut off if the run ended now. Each is given once. */
  takeRunning(): readonly Task[] {
    const running = this.#running.filter(({ warned }) => !warned)
    for (const task of running) task.warned = true
    return running
  }

  /** Ends all that run, and resolves when they have. */
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
    // It may have been stopped while the hooks thought.
    if (task.status !== 'stopped') task.status = task.objection === undefined ? 'completed' : 'incomplete'
  }

  /** Limits the list: the oldest ended tasks are dropped first. */
  #forget(): void {
    const ended = [...this.#tasks.values()].filter(({ told, end }) => told && end !== undefined)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - mostRemembered))) this.#tasks.delete(id)
  }
}

/** A hook that can't be asked denies it. */
async function asked(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await ask()
  } catch (error) {
    return `It could not be asked: ${error instanceof Error ? error.message : String(error)}`
  }
}
