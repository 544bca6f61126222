import type { Withheld } from '../../sandbox/index.ts'
import type {
  Item,
  ItemDraft,
  RunEvent,
  RunSummary,
  Sink,
  UsageSoFar,
  UnsupportedClaim,
  Verified,
} from '../core/events.ts'
import type { Usage } from '../core/model.ts'
import { exitCodes, type EndReason } from '../core/exit-codes.ts'
import { noUsage, sumUsage } from '../core/usage.ts'
import type { Changes } from '../core/changes/change-watch.ts'
import type { Patched } from '../core/changes/compose.ts'
import type { SandboxStatus } from '../core/sandbox-status.ts'
import type { ReviewReport } from '../core/review-report-schema.ts'
import type { TransactionReport } from '../core/run-summary.ts'
import { maskRecord, maskStream } from '../core/text/mask-record.ts'
import { fitEvent } from './fit-event.ts'
import { eventUsage, isJudged, isLookUp, subject, verifiedBy } from './summarize.ts'
import { resultOf, terminalEvent } from './terminal-event.ts'
import { Evidence } from './claims/run-evidence.ts'
import type { ResumedSession } from './resumed-session.ts'
import type { Refusal } from './denial-circuit-breaker.ts'

/** An item that has begun and is not complete yet. */
type OpenItem = { update(changes: object): void; tail(read: () => string): void; complete(changes: object): void }

/** Facts that are known only when a run is over. */
export type Closing = {
  /** The cost of this run in US dollars; undefined if a price is unknown. */
  readonly cost?: number | undefined
  /** The number of records in the audit log and the hash of the last one, as `RECORDS:HASH`. */
  readonly auditHead?: string
  /** Default limits that the sandbox could not enforce. */
  readonly unenforced?: readonly string[]
  /** Environment variables that were withheld from commands. */
  readonly withheld?: Withheld
  /** The combined changes of patches and commands; undefined if changes by commands were not tracked. */
  readonly changes?: Changes
  /** What happened to the changes of a transaction. */
  readonly transaction?: TransactionReport
  /** Claims of the final message that the record contradicts. */
  readonly unsupported?: readonly UnsupportedClaim[]
  /** The result of a review. */
  readonly review?: ReviewReport
  /** Whether the checked-out branch or commit changed during the run. */
  readonly headMoved?: boolean
}

/**
 * Records a run: numbers its items, passes each event to the sinks, and counts what the summary reports. Every item that begins is completed, and there is
 * exactly one terminal event, whatever ended the run.
 */
export class Recorder {
  readonly #sinks: readonly Sink[]
  readonly #startedAt = performance.now()
  readonly #open = new Map<string, Item>()
  readonly #patched = new Map<string, { readonly first: string; readonly last: string }>()
  readonly #denied: { what: string; reason: string }[] = []
  readonly #refusals: Refusal[] = []
  readonly #verified = new Map<string, Verified>()
  #commandsRun = 0
  #commandsFailed = 0
  #nextItem = 0
  #ended = false
  #finalMessage = ''
  readonly #writing = maskStream()
  readonly #resumedFrom: ResumedSession | undefined
  #usage = noUsage
  /** The record against which the claims in a final message are checked. */
  readonly evidence = new Evidence()

  readonly #sandboxStatus: SandboxStatus
  readonly #keep: ((bytes: Uint8Array) => string | undefined) | undefined

  /**
   * @param resumedFrom the resumed session, whose usage is added to the totals. Default: none
   * @param keep stores an event that is too long for one line, and returns the file's path, or undefined if that isn't possible. Default: all events
   * are emitted whole
   * @param sandboxStatus the sandbox status in every event. Default: none
   */
  constructor(
    sinks: readonly Sink[],
    resumedFrom?: ResumedSession,
    keep?: (bytes: Uint8Array) => string | undefined,
    sandboxStatus: SandboxStatus = {},
  ) {
    this.#sandboxStatus = sandboxStatus
    this.#sinks = sinks
    this.#keep = keep
    this.#resumedFrom = resumedFrom
  }

  /** The model's last message so far. */
  get finalMessage(): string {
    return this.#finalMessage
  }

  /** The files that patches have changed so far. */
  get patched(): Patched {
    return this.#patched
  }

  /** The calls that were refused so far. */
  get refusals(): readonly Refusal[] {
    return this.#refusals
  }

  /** The last call that was refused, if there is one. */
  get lastDenied(): RunSummary['denied'][number] | undefined {
    return this.#denied.at(-1)
  }

  /** Emits an event. Events after the terminal event are ignored. */
  emit(event: RunEvent): void {
    if (this.#ended) return
    const said = maskRecord({ ...event, ...this.#sandboxStatus })
    const told = this.#keep === undefined ? said : fitEvent(said, this.#keep)
    for (const sink of this.#sinks) sink.event(told)
  }

  /** Emits a piece of a message that is still being written. If a piece may be the beginning of a secret, it is held back until that is clear. */
  delta(text: string): void {
    const told = this.#writing.push(text)
    if (told !== '') for (const sink of this.#sinks) sink.delta?.(told)
  }

  /** Tells the sinks what the run has used so far. */
  spent(spent: UsageSoFar): void {
    for (const sink of this.#sinks) sink.spent?.(spent)
  }

  addUsage(usage: Usage): void {
    this.#usage = sumUsage(this.#usage, usage)
  }

  /** Emits an item that is complete from the start, such as a message or a rejected call. */
  complete(draft: ItemDraft): void {
    const item = this.#number(draft)
    if (item.type === 'agent_message') {
      this.#finalMessage = item.text
      this.#writing.reset()
    }
    this.#count(item)
    this.emit({ type: 'item.completed', item })
  }

  /** Emits the beginning of an item that will be completed later. */
  open(draft: ItemDraft): OpenItem {
    const item = this.#number(draft)
    this.#open.set(item.id, item)
    this.emit({ type: 'item.started', item })
    return {
      update: (changes) => {
        const known = this.#open.get(item.id)
        if (known === undefined) return
        const changed = { ...known, ...changes } as Item
        this.#open.set(item.id, changed)
        this.emit({ type: 'item.updated', item: changed })
      },
      tail: (read) => {
        if (this.#open.has(item.id)) for (const sink of this.#sinks) sink.tail?.(item.id, read)
      },
      complete: (changes) => {
        const known = this.#open.get(item.id)
        if (known === undefined) return
        this.#open.delete(item.id)
        const done = { ...known, ...changes } as Item
        this.#count(done)
        this.emit({ type: 'item.completed', item: done })
      },
    }
  }

  /** Ends the run: closes open items, emits the terminal event, and gives the sinks the summary. */
  end(
    reason: EndReason,
    error: string | undefined,
    { cost, auditHead, unenforced = [], withheld, changes, transaction, unsupported, headMoved, review }: Closing = {},
  ): RunSummary {
    for (const item of [...this.#open.values()]) {
      this.#open.delete(item.id)
      this.emit({ type: 'item.completed', item: { ...item, status: 'failed' } as Item })
    }
    const summary: RunSummary = {
      exitCode: exitCodes[reason],
      reason,
      error,
      finalMessage: this.#finalMessage,
      filesChanged: changes?.files ?? [...this.#patched].map(([path, { last }]) => ({ path, kind: last })),
      changes,
      transaction,
      commands: { run: this.#commandsRun, failed: this.#commandsFailed },
      denied: this.#denied,
      usage: eventUsage(this.#usage),
      costUsd: cost,
      auditHead,
      unenforced,
      withheld,
      dangers: this.#sandboxStatus.dangers,
      // A review is not expected to change anything, so it is never reported as `no-change`.
      result: resultOf(reason, review === undefined ? changes : undefined, headMoved),
      ...(this.#verified.size === 0 ? {} : { verified: [...this.#verified.values()] }),
      review,
      unsupported,
      durationMs: Math.round(performance.now() - this.#startedAt),
    }
    this.#terminal(summary)
    this.#ended = true
    for (const sink of this.#sinks) sink.end?.(summary)
    return summary
  }

  #terminal(summary: RunSummary): void {
    const { error } = summary
    const event = terminalEvent(summary, this.#resumedFrom, this.#usage)
    if (error !== undefined) this.emit({ type: 'error', message: error })
    this.emit(event)
  }

  #number(draft: ItemDraft): Item {
    return { id: `item_${this.#nextItem++}`, ...draft } as Item
  }

  #count(item: Item): void {
    this.evidence.see(item)
    if (isJudged(item) && item.verdict !== undefined && item.verdict.decision !== 'allow') {
      this.#denied.push({ what: subject(item), reason: item.verdict.reason })
      this.#refusals.push({ what: subject(item), isLookUp: isLookUp(item) })
    }
    if (item.type === 'command_execution' && item.status !== 'declined') {
      this.#commandsRun++
      if (item.status === 'failed') this.#commandsFailed++
    }
    if (item.type === 'verification') this.#verified.set(item.command, verifiedBy(item))
    if (item.type === 'file_change' && item.status === 'completed') {
      for (const { path, kind } of item.changes) {
        this.#patched.set(path, { first: this.#patched.get(path)?.first ?? kind, last: kind })
      }
    }
  }
}
