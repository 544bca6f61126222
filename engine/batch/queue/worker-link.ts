import { join } from 'node:path'
import type { RateLimits } from '../../core/request-gate.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readControl } from '../folder/control.ts'
import { readWish } from '../folder/wish.ts'
import type { Labels } from '../labels.ts'
import { claimAttempt, claimantOf, isEndAsked } from './attempt-files.ts'
import { countAlive, endBeat, isWorking, registryOf, writeBeat } from './worker-registry.ts'

/** The functions with which a worker communicates with the coordinator of its batch. */
export type WorkerLink = {
  /** Whether an attempt was handed out. If so, the folder contains the attempt's maximum cost when this resolves. */
  readonly isGivenOut: (trial: string, attempt: number) => Promise<boolean>
  /** Claims an attempt. @returns false if the attempt has already been claimed, even by this worker */
  readonly claim: (trial: string, attempt: number) => Promise<boolean>
  /** Whether the worker that claimed an attempt is still alive. */
  readonly isClaimantThere: (trial: string, attempt: number) => Promise<boolean>
  readonly isEndAsked: (trial: string, attempt: number) => Promise<boolean>
  /** Sends the stored progress of an attempt to the coordinator. */
  readonly tellStep: (trial: string, attempt: number) => Promise<void>
  /**
   * Hands in the result of an attempt. If that is not possible by a deadline, only the cost of the attempt is reported. The report is repeated until
   * it succeeds or `closing` is aborted.
   *
   * @throws UserError if the result can't be handed in by the deadline
   */
  readonly handIn: (
    trial: string,
    attempt: number,
    wait: { readonly closing: AbortSignal; readonly say: (sentence: string) => void },
  ) => Promise<void>
  /** Reports that this worker is alive. */
  readonly beat: () => Promise<Beat>
  readonly end: () => Promise<void>
}

/** The state of the batch, which a worker learns each time it reports that it is alive. */
type Beat = {
  /** The number of live workers. */
  readonly workers: number
  readonly limits: RateLimits
  /** Whether the batch is no longer running. */
  readonly isOver: boolean
}

/** Creates a worker's link to the coordinator through the batch's folder, for a worker that shares this folder with the coordinator. */
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

/** The directory in which a worker keeps its own clones. */
export function clonesOf(folder: BatchFolder, name: string): string {
  return join(registryOf(folder), name)
}
