import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { BatchFolder } from './batch-folder.ts'
import { readIfThere, writeWhole } from './files.ts'

const wish = z.object({ max_cost: z.number().optional() })

const fileOf = (folder: BatchFolder, trial: string, attempt: number): string =>
  join(folder.attemptPath(trial, attempt), 'wish.json')

/** Records what an attempt may cost. */
export function writeWish(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  maxCost: number | undefined,
  owner: number,
): void {
  const text = JSON.stringify(maxCost === undefined ? {} : { max_cost: maxCost })
  writeWhole(fileOf(folder, trial, attempt), text, owner)
}

/** Removes the record, so the attempt counts as not given to a worker. */
export function removeWish(folder: BatchFolder, trial: string, attempt: number): void {
  rmSync(fileOf(folder, trial, attempt), { force: true })
}

/** Reads what an attempt may cost. Undefined: the attempt was not given to a worker. */
export function readWish(
  folder: BatchFolder,
  trial: string,
  attempt: number,
): { readonly maxCost: number | undefined } | undefined {
  const text = readIfThere(fileOf(folder, trial, attempt))
  return text === undefined ? undefined : { maxCost: wish.parse(JSON.parse(text)).max_cost }
}
