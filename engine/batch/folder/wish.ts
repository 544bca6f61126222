import { join } from 'node:path'
import * as z from 'zod'
import type { BatchFolder } from './batch-folder.ts'
import { readIfThere, writeOnce } from './files.ts'

const wish = z.object({ max_cost: z.number().optional() })

/** Records what an attempt may cost. */
export function writeWish(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  maxCost: number | undefined,
  owner: number,
): void {
  const text = JSON.stringify(maxCost === undefined ? {} : { max_cost: maxCost })
  writeOnce(join(folder.attemptPath(trial, attempt), 'wish.json'), text, owner)
}

/** Reads this limit. Undefined: the attempt was not given to a worker. */
export function readWish(
  folder: BatchFolder,
  trial: string,
  attempt: number,
): { readonly maxCost: number | undefined } | undefined {
  const text = readIfThere(join(folder.attemptPath(trial, attempt), 'wish.json'))
  return text === undefined ? undefined : { maxCost: wish.parse(JSON.parse(text)).max_cost }
}
