import type { Guardian } from '../../policies/index.ts'
import { landedWhole, transactionLines } from '../core/text/transaction-lines.ts'
import type { WorkingState } from '../tools/working-state.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import { faultOf, type Stop } from './stop.ts'
import type { Transaction } from './transaction.ts'
import { whyKept } from './why-kept.ts'

/** What a caller gets to know about a landing: lines of text if something didn't land as it was left, and whether it failed. */
type Said = { readonly lines: readonly string[]; readonly failed: boolean }

/** Lands the changes of a run's calls while the run goes on, and brings its view up to date. */
export type LandBetween = {
  /** Call and await this before each call. */
  begin(): Promise<void>
  /** Call and await this after each call. When the last of several calls has ended, their changes land. @returns undefined if there is nothing to say */
  end(): Promise<Said | undefined>
}

type Landing = {
  readonly transaction?: Transaction
  readonly sandbox: Sandbox
  readonly signal: AbortSignal
  /** The agents that work beside the run. */
  readonly delegates?: { readonly unread: readonly string[] }
}

/** @returns undefined if the run's changes land only at its end, or if the run has no view */
export function landBetween(
  options: Landing,
  guardian: Guardian,
  { sessions }: Pick<WorkingState, 'sessions'>,
): LandBetween | undefined {
  const { transaction, sandbox, signal, delegates } = options
  const between = transaction?.between
  if (between === undefined) return undefined
  let active = 0
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.then(act)
    last = done.catch(() => undefined)
    return done
  }
  const isBusy = (): boolean =>
    active > 0 ||
    sandbox.isWriting() ||
    sessions.ids.some((id) => sessions.get(id)?.hasEnded === false) ||
    (delegates?.unread.length ?? 0) > 0

  const land = async (kept: Stop | undefined): Promise<Said | undefined> => {
    try {
      const { stop = kept, report } = await between.land(kept, signal)
      const told = report && { transaction: { ...report, outside: [] } }
      if (stop === undefined && (told === undefined || landedWhole(told))) return undefined
      const lines = told === undefined ? [] : transactionLines(told, (path) => path)
      return { lines: [...(stop === undefined ? [] : [stop.message]), ...lines], failed: stop !== undefined }
    } catch (error) {
      return { lines: [faultOf(error).message], failed: true }
    }
  }

  return {
    begin: () =>
      inTurn(async () => {
        // What a hook or a command has changed since the last landing must not get lost when the view is brought up to date. Nobody is asked again.
        if (!isBusy()) {
          const hasLosses = (await transaction?.losses())?.length !== 0
          await land(hasLosses ? { reason: 'stoppedByGuardian', message: 'Nothing was landed.' } : undefined)
        }
        active += 1
      }),
    end: () =>
      inTurn(async () => {
        active -= 1
        if (!isBusy()) return land(await whyKept(options, guardian))
        return { lines: ['Other commands are still running: the changes land when they have ended.'], failed: false }
      }),
  }
}
