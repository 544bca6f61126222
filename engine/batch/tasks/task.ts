import type { Labels } from '../labels.ts'

/** The git repository on which a task works, and the ref to check out. */
export type Repository = {
  /** An absolute path or a git URL. */
  readonly source: string
  /** A branch, a tag or a commit. Undefined: the checked-out commit of a local repository, or the default branch of a remote one. */
  readonly ref: string | undefined
}

/** One task of a batch, with its prompt filled in. */
export type Task = {
  /** An id that stays the same when the batch is started again. It identifies the task in results and in the names of folders. */
  readonly id: string
  readonly prompt: string
  readonly repository: Repository
  /** The container image in which commands run. Undefined: the configured one. */
  readonly image: string | undefined
  /** The labels that a worker must have to be given this task. They matter only for a batch with a queue. */
  readonly labels: Labels
}

/** A value from a task file, and the number of the line on which it begins. */
export type Entry = { readonly line: number; readonly value: unknown }

/** The content of a task file: the values for all tasks, and the individual tasks. */
export type TaskFile = {
  readonly shared: Entry | undefined
  readonly entries: readonly Entry[]
}

/** An error in a task file. */
export class TaskFault extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}
