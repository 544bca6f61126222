import type { Guardian } from '../../policies/index.ts'
import { landedWhole, transactionLines } from '../core/text/transaction-lines.ts'
import type { WorkingState } from '../tools/working-state.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import { faultOf } from './stop.ts'
import type { Transaction } from './transaction.ts'
import { whyKept } from './why-kept.ts'

/** What a caller gets to know about a landing: lines of text if something didn't land as it was left, and whether it failed. */
type Said = { readonly lines: readonly string[]; readonly failed: boolean }

/** Lands the changes of a run's calls while the run goes on. */
export type LandBetween = {
  /** Call and await this before each call. Before the first of several calls, the view is brought up to date. */
  begin(): Promise<void>
  /** Call and await this after each call. When the last of several calls has ended, their changes land. @returns undefined if there is nothing to say */
  end(): Promise<Said | undefined>
}

/** @returns undefined if the run's changes land only at its end, or if the run has no view */
export function landBetween(
  options: { readonly transaction?: Transaction; readonly sandbox: Sandbox; readonly signal: AbortSignal },
  guardian: Guardian,
  { sessions }: Pick<WorkingState, 'sessions'>,
): LandBetween | undefined {
  const { transaction, sandbox, signal } = options
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
    active > 0 || sandbox.isWriting() || sessions.ids.some((id) => sessions.get(id)?.hasEnded === false)

  const land = async (): Promise<Said | undefined> => {
    try {
      const kept = await whyKept(options, guardian)
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
        if (!isBusy()) await between.refresh()
        active += 1
      }),
    end: () =>
      inTurn(async () => {
        active -= 1
        if (!isBusy()) return land()
        return { lines: ['Other commands are still running: the changes land when they have ended.'], failed: false }
      }),
  }
}
