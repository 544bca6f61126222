import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { BatchFolder } from './batch-folder.ts'
import { readIfThere, writeWhole } from './files.ts'

/** The maximum cost of an attempt, in US dollars, as stored in the folder or in Redis. Absent: no limit. */
export const wishSchema = z.object({ max_cost: z.number().optional() })

/** Converts the maximum cost of an attempt into the form in which it is stored. */
export const wishOf = (maxCost: number | undefined): z.infer<typeof wishSchema> =>
  maxCost === undefined ? {} : { max_cost: maxCost }

const fileOf = (folder: BatchFolder, trial: string, attempt: number): string =>
  join(folder.attemptPath(trial, attempt), 'wish.json')

/** Stores the maximum cost of an attempt in the folder. From then on, the attempt counts as handed out to the workers. */
export function writeWish(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  maxCost: number | undefined,
  owner: number,
): void {
  writeWhole(fileOf(folder, trial, attempt), JSON.stringify(wishOf(maxCost)), owner)
}

/** Removes the stored maximum cost of an attempt. From then on, the attempt counts as not handed out. */
export function removeWish(folder: BatchFolder, trial: string, attempt: number): void {
  rmSync(fileOf(folder, trial, attempt), { force: true })
}

/** Reads the stored maximum cost of an attempt. The result is undefined if nothing is stored, which means that the attempt was not handed out. */
export function readWish(
  folder: BatchFolder,
  trial: string,
  attempt: number,
): { readonly maxCost: number | undefined } | undefined {
  const text = readIfThere(fileOf(folder, trial, attempt))
  return text === undefined ? undefined : { maxCost: wishSchema.parse(JSON.parse(text)).max_cost }
}
