import { join } from 'node:path'
import type { RateLimits } from '../../core/request-gate.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readControl } from '../folder/control.ts'
import { readWish } from '../folder/wish.ts'
import type { Labels } from '../labels.ts'
import { claimAttempt, claimantOf, isEndAsked } from './attempt-files.ts'
import { countAlive, endBeat, isWorking, registryOf, writeBeat } from './worker-registry.ts'

/** What a worker and the coordinator of its batch tell each other. */
export type WorkerLink = {
  /** Whether an attempt was given out; then what it may cost is in the folder. */
  readonly isGivenOut: (trial: string, attempt: number) => Promise<boolean>
  /** Claims an attempt. @returns false where some worker has it, or had it */
  readonly claim: (trial: string, attempt: number) => Promise<boolean>
  /** Whether the worker that claimed an attempt is there still. */
  readonly isClaimantThere: (trial: string, attempt: number) => Promise<boolean>
  readonly isEndAsked: (trial: string, attempt: number) => Promise<boolean>
  /** Tells what is in the folder of what an attempt is at. */
  readonly tellStep: (trial: string, attempt: number) => Promise<void>
  /**
   * Hands in how an attempt ended.
   *
   * @throws UserError where that can't be done in time
   */
  readonly handIn: (trial: string, attempt: number) => Promise<void>
  /** Says that this worker is there. */
  readonly beat: () => Promise<Beat>
  readonly end: () => Promise<void>
}

/** What a worker hears each time that it says that it is there. */
type Beat = {
  /** How many workers there are. */
  readonly workers: number
  readonly limits: RateLimits
  /** Nobody runs this batch any more. */
  readonly isOver: boolean
}

/** By the batch's folder, which the coordinator writes to too. */
export function linkByFolder(
  folder: BatchFolder,
  name: string,
  process: number,
  own: { readonly labels: Labels; readonly places: number },
): WorkerLink {
  const registry = registryOf(folder)
  return {
    isGivenOut: async (trial, attempt) =>
      folder.attempts(trial).at(-1) === attempt && readWish(folder, trial, attempt) !== undefined,
    claim: async (trial, attempt) => claimAttempt(folder, trial, attempt, name, process),
    isClaimantThere: async (trial, attempt) => isWorking(registry, claimantOf(folder, trial, attempt)),
    isEndAsked: async (trial, attempt) => isEndAsked(folder, trial, attempt),
    tellStep: async () => undefined,
    handIn: async () => undefined,
    beat: async () => {
      writeBeat(registry, name, process, own)
      const { rpm, tpm } = readControl(folder.path)
      return { workers: countAlive(registry), limits: { requests: rpm, tokens: tpm }, isOver: false }
    },
    end: async () => endBeat(registry, name),
  }
}

/** Where a worker keeps clones of its own. */
export function clonesOf(folder: BatchFolder, name: string): string {
  return join(registryOf(folder), name)
}
