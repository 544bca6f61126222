import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readIfThere, writeWhole } from './files.ts'

const control = z.object({
  /** Nothing is begun; what runs goes on. */
  paused: z.boolean().default(false),
  /** What runs is interrupted, and the batch ends. */
  cancelled: z.boolean().default(false),
  workers: z.int().min(1).optional(),
  rpm: z.int().min(1).optional(),
  tpm: z.int().min(1).optional(),
})

/** What is asked of a batch that goes on, by whoever is not its supervisor. */
type Control = z.infer<typeof control>

const fileOf = (folder: string): string => join(folder, 'control.json')

/** What is asked of a batch. A file that can't be read asks for nothing. */
export function readControl(folder: string): Control {
  const parsed = control.safeParse(parseJson(readIfThere(fileOf(folder)) ?? '{}'))
  return parsed.success ? parsed.data : control.parse({})
}

/** Asks something of a batch, besides what was asked before. */
export function writeControl(folder: string, wish: Partial<Control>, owner: number): void {
  writeWhole(fileOf(folder), `${JSON.stringify({ ...readControl(folder), ...wish })}\n`, owner)
}

/** When something was last asked, as a text that changes with it. */
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
