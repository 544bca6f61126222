import type { Labels } from '../labels.ts'

/** Where a task works: a git repository and what of it is checked out. */
export type Repository = {
  /** An absolute path or a git URL. */
  readonly source: string
  /** A branch, a tag or a commit. Undefined: what is checked out there, or the default branch. */
  readonly ref: string | undefined
}

/** One task of a batch, as it was read, the prompt filled in. */
export type Task = {
  /** Stable: what results, folders and a second start know the task by. */
  readonly id: string
  readonly prompt: string
  readonly repository: Repository
  /** The container image that commands run in. Undefined: as configured. */
  readonly image: string | undefined
  /** What a worker of a queue must have to be given it. */
  readonly labels: Labels
}

/** A value of a file of tasks, and the line it begins in. */
export type Entry = { readonly line: number; readonly value: unknown }

/** What a file of tasks holds: what holds for all of its tasks, and the tasks. */
export type TaskFile = {
  readonly shared: Entry | undefined
  readonly entries: readonly Entry[]
}

/** A fault in a file of tasks. */
export class TaskFault extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}
