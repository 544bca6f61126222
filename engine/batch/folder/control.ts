import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readIfThere, writeWhole } from './files.ts'

const control = z.object({
  /** Whether the batch is paused: no new task begins, but running tasks continue. */
  paused: z.boolean().default(false),
  /** Whether the batch is cancelled: running tasks are interrupted, and the batch ends. */
  cancelled: z.boolean().default(false),
  workers: z.int().min(1).optional(),
  rpm: z.int().min(1).optional(),
  tpm: z.int().min(1).optional(),
})

/** The requests from other processes to the supervisor of a batch. */
type Control = z.infer<typeof control>

const fileOf = (folder: string): string => join(folder, 'control.json')

/** Reads the requests from other processes to a batch's supervisor. A file that is missing or not valid counts as one without requests. */
export function readControl(folder: string): Control {
  const parsed = control.safeParse(parseJson(readIfThere(fileOf(folder)) ?? '{}'))
  return parsed.success ? parsed.data : control.parse({})
}

/** Adds requests to the batch's control file. The earlier requests remain, except that a new value of a setting replaces its old value. */
export function writeControl(folder: string, wish: Partial<Control>, owner: number): void {
  writeWhole(fileOf(folder), `${JSON.stringify({ ...readControl(folder), ...wish })}\n`, owner)
}

/** Returns a text that changes whenever the batch's control file is written. */
export function controlStamp(folder: string): string {
  const stat = statSync(fileOf(folder), { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.mtimeMs}-${stat.ino}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
