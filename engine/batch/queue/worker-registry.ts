import { readdirSync, statSync, utimesSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { isProcessAlive, startOf } from '../../../apply-patch/index.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readIfThere, writeWhole } from '../folder/files.ts'
import { hasLabels, type Labels } from '../labels.ts'

/** The workers of a batch. Each worker has a file below `workers/` in the batch's folder, and updates it regularly. */

/** A worker's report about itself, in its file or through Redis. */
const workerSchema = z.object({
  host: z.string(),
  pid: z.int(),
  started: z.string().optional(),
  labels: z.array(z.string()).default([]),
  /** The maximum number of the worker's simultaneous runs. */
  places: z.int().default(1),
})
type WorkerReport = z.infer<typeof workerSchema>

/** The time between two reports with which a worker shows that it is alive, in milliseconds. */
export const beatMs = 5000
/** A worker counts as dead if it hasn't reported for this many milliseconds. Only `countAlive` waits longer. */
export const silentMs = 3 * beatMs
const aliveMs = 60_000

/** The folder with the files of a batch's workers. */
export function registryOf(folder: BatchFolder): string {
  return join(folder.path, 'workers')
}

/** The labels of a worker, and the maximum number of its simultaneous runs. */
type Offer = { readonly labels: Labels; readonly places: number }

/** Creates the report that a worker on this machine gives about itself. */
export function reportOf(process: number, { labels, places }: Offer): WorkerReport {
  return { host: hostname(), pid: process, started: startOf(process), labels: [...labels], places }
}

/** Parses a worker's report. @returns undefined if it isn't one */
export function parseReport(text: string): WorkerReport | undefined {
  return workerSchema.safeParse(JSON.parse(text)).data
}

/** Records that a worker is alive. */
export function writeBeat(registry: string, name: string, process: number, offer: Offer): void {
  writeWhole(join(registry, `${name}.json`), JSON.stringify(reportOf(process, offer)), process)
}

/** Records that a worker has ended. */
export function endBeat(registry: string, name: string): void {
  utimesSync(join(registry, `${name}.json`), 0, 0)
}

/** Whether a worker is still alive. Its file must have been renewed recently. If the worker is on this machine, its process must also be running. */
export function isWorking(registry: string, name: string | undefined): boolean {
  return readWorker(registry, `${name ?? ''}.json`) !== undefined
}

function readWorker(registry: string, name: string): WorkerReport | undefined {
  const stat = statSync(join(registry, name), { throwIfNoEntry: false })
  if (stat === undefined || Date.now() - stat.mtimeMs > silentMs) return undefined
  const worker = parseReport(readIfThere(join(registry, name)) ?? '{}')
  return worker === undefined || worker.host !== hostname() || isProcessAlive(worker) ? worker : undefined
}

/**
 * The number of live workers of a batch: those whose file was renewed within the last minute. It is at least 1, so that limits can be divided by it.
 */
export function countAlive(registry: string): number {
  const since = Date.now() - aliveMs
  const alive = filesIn(registry).filter((name) => {
    const stat = statSync(join(registry, name), { throwIfNoEntry: false })
    return stat !== undefined && stat.mtimeMs > since
  })
  return Math.max(1, alive.length)
}

function filesIn(registry: string): readonly string[] {
  const isThere = statSync(registry, { throwIfNoEntry: false }) !== undefined
  return isThere ? readdirSync(registry).filter((name) => name.endsWith('.json')) : []
}

/** A set of labels that tasks need and no worker has, and the number of open runs that need it. */
export type Unserved = { readonly labels: Labels; readonly runs: number }

/** The labels and the capacity of the live workers. */
export class WorkersThere {
  readonly #registry: string
  #there: readonly WorkerReport[] = []
  #readAt = 0

  constructor(registry: string) {
    this.#registry = registry
  }

  /** Whether at least one worker has these labels. */
  have(needed: Labels): boolean {
    return this.#look().some(({ labels }) => hasLabels(labels, needed))
  }

  /** The number of runs that all live workers together can execute at the same time. */
  places(): number {
    return this.#look().reduce((sum, { places }) => sum + places, 0)
  }

  /** The sets of labels that no worker has, with the number of runs that need each set. @param needed the labels that each open run needs */
  unserved(needed: readonly Labels[]): readonly Unserved[] {
    const sets = Map.groupBy(needed, (labels) => labels.join())
    return [...sets.values()].flatMap((runs) => {
      const [labels = []] = runs
      return this.have(labels) ? [] : [{ labels, runs: runs.length }]
    })
  }

  #look(): readonly WorkerReport[] {
    // The files are read at most every half second, because every waiting task checks again and again which workers there are.
    if (Date.now() - this.#readAt > 500) {
      this.#there = filesIn(this.#registry).flatMap((name) => readWorker(this.#registry, name) ?? [])
      this.#readAt = Date.now()
    }
    return this.#there
  }
}
