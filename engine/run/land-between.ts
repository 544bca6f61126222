import type { Guardian } from '../../policies/index.ts'
import { landedWhole, transactionLines } from '../core/text/transaction-lines.ts'
import type { RunHooks } from '../tools/hook-interface.ts'
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
  readonly hooks?: Pick<RunHooks, 'isSilent'>
  /** The agents that work beside the run. */
  readonly delegates?: { readonly unread: readonly string[] }
}

/** @returns undefined if the run's changes land only at its end, or if the run has no view */
export function landBetween(
  options: Landing,
  guardian: Guardian,
  { sessions }: Pick<WorkingState, 'sessions'>,
): LandBetween | undefined {
  const { transaction, sandbox, signal, delegates, hooks } = options
  const between = transaction?.between
  if (between === undefined) return undefined
  let active = 0
  // Whether nothing can have been written to the view since the last landing.
  let isSettled = false
  // What stays in the view, such as a file that never lands, isn't named again with each call.
  let lastTold: string | undefined
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

  /**
   * Lands what a command or a hook has changed since the last landing, which must not get lost when the view is brought up to date. Nobody is asked about losses
   * again.
   */
  const landAgain = async (): Promise<void> => {
    const hasLosses = (await transaction?.losses())?.length !== 0
    await land(hasLosses ? { reason: 'stoppedByGuardian', message: 'Nothing was landed.' } : undefined)
  }

  return {
    begin: () =>
      inTurn(async () => {
        if (!isBusy()) {
          if (!isSettled) await landAgain()
          await between.refresh()
        }
        isSettled = false
        active += 1
      }),
    end: () =>
      inTurn(async () => {
        active -= 1
        if (!isBusy()) {
          const said = await land(await whyKept(options, guardian))
          // Hooks may go on working when a call has ended.
          isSettled = hooks?.isSilent === true
          const left = said?.lines.slice(1).join('\n')
          const isRepeated = said?.failed === false && left === lastTold
          lastTold = left
          return isRepeated ? undefined : said
        }
        return { lines: ['Other commands are still running: the changes land when they have ended.'], failed: false }
      }),
  }
}
