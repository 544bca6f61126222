import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readHostFile } from '../../../sandbox/index.ts'

const run = z.object({
  succeeded: z.boolean(),
  end: z.string(),
  exitCode: z.int().nullable(),
  durationMs: z.number(),
  /** Whether runners can be asked for reports. */
  asks: z.boolean(),
  /** The files of the judge that were written meanwhile. */
  written: z.array(z.string()),
  tests: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      file: z.string().optional(),
      passed: z.int(),
      failed: z.int(),
      skipped: z.int(),
    }),
  ),
})

/** A command's run on a base, as it is stored. */
export type StoredRun = z.infer<typeof run>

const mostKept = 100
const largest = 128 * 1024 * 1024

/** Stores what a command did on a base, by what the base contains, so that the same base isn't tested by each run. */
export class BaseCache {
  readonly #folder: string | undefined

  /** @param folder where results are stored; undefined: nowhere */
  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  read(key: readonly string[]): StoredRun | undefined {
    const file = this.#file(key)
    const bytes = file === undefined ? undefined : readHostFile(file, { maxBytes: largest })
    if (bytes === undefined) return undefined
    try {
      return run.safeParse(JSON.parse(bytes.toString())).data
    } catch {
      return undefined
    }
  }

  write(key: readonly string[], result: StoredRun): void {
    const file = this.#file(key)
    if (file === undefined || this.#folder === undefined) return
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(result), { mode: 0o600 })
    renameSync(`${file}.${process.pid}`, file)
    const all = readdirSync(this.#folder).map((name) => join(this.#folder ?? '', name))
    const byAge = all.toSorted((one, other) => timeOf(other) - timeOf(one))
    for (const old of byAge.slice(mostKept)) rmSync(old, { force: true })
  }

  #file(key: readonly string[]): string | undefined {
    const name = createHash('sha256').update(JSON.stringify(key)).digest('hex')
    return this.#folder === undefined ? undefined : join(this.#folder, `${name}.json`)
  }
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
