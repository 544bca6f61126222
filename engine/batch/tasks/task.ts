import type { Labels } from '../labels.ts'

/** The place of a task's work: a git repository and its checked-out ref. */
export type Repository = {
  /** An absolute path or a git URL. */
  readonly source: string
  /** A branch, a tag or a commit. Undefined: the checked-out commit of a local repository, or the default branch. */
  readonly ref: string | undefined
}

/** One task of a batch, with its prompt filled in. */
export type Task = {
  /** Stable: results, folders and a second start identify the task by it. */
  readonly id: string
  readonly prompt: string
  readonly repository: Repository
  /** The container image that commands run in. Undefined: as configured. */
  readonly image: string | undefined
  /** The labels that a worker of a queue needs to get it. */
  readonly labels: Labels
}

/** A value of a file of tasks, and the line it begins in. */
export type Entry = { readonly line: number; readonly value: unknown }

/** The content of a file of tasks: the values for all tasks, and the tasks. */
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
