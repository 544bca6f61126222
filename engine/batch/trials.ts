import { createHash } from 'node:crypto'
import type { Task } from './tasks/task.ts'

/** One try of one model at one task. Each trial has one result, which may take several attempts. */
export type Trial = {
  /** The name of the folder with the trial's attempts. It also identifies the trial. */
  readonly key: string
  readonly task: string
  /** The model's name as the user wrote it. Undefined: the configured model. */
  readonly model: string | undefined
  /** The number of the repeat, counted from 1. */
  readonly repeat: number
}

/** The models that try each task, and how many times each model tries it. */
type Matrix = {
  /** The names of the models. Empty: the configured model. */
  readonly models: readonly string[]
  readonly repeat: number
}

/**
 * Returns all trials of the given tasks. The first repeat of every task comes before the second, so that a batch that ends early has tried as many
 * tasks as possible.
 */
export function trialsOf(tasks: readonly Pick<Task, 'id'>[], { models, repeat }: Matrix): readonly Trial[] {
  const names: readonly (string | undefined)[] = models.length === 0 ? [undefined] : models
  const trials: Trial[] = []
  for (let round = 1; round <= repeat; round++) {
    for (const { id } of tasks) {
      for (const model of names) {
        const parts = [id, ...(names.length > 1 ? [model ?? ''] : []), ...(repeat > 1 ? [`r${round}`] : [])]
        trials.push({ key: parts.map(fileName).join('~'), task: id, model, repeat: round })
      }
    }
  }
  return trials
}

const longest = 100

/** Turns a text into a unique file name: unusual characters become `%XX`, and a long name is shortened and gets a hash at its end. */
export function fileName(text: string): string {
  const plain = encodeURIComponent(text)
    .replace(/[~!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)
    .replace(/^\./, '%2e')
  if (plain.length <= longest) return plain
  return `${plain.slice(0, longest)}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
}
