import type { Item, ItemDraft, RunEvent, RunRecord, RunSummary, Sink, UsageSoFar } from '../core/events.ts'
import type { Usage } from '../core/model.ts'
import { exitCodes, type EndReason } from '../core/exit-codes.ts'
import type { ItemHandle } from '../tools/tool.ts'
import { noUsage, sumUsage } from '../core/usage.ts'
import type { Changes } from '../core/changes/change-watch.ts'
import type { Patched } from '../core/changes/compose.ts'
import type { SandboxStatus } from '../core/sandbox-status.ts'
import { maskRecord, maskStream } from '../core/text/mask-record.ts'
import { maskSecrets, type Mask } from '../core/text/mask-secrets.ts'
import { fitEvent } from './fit-event.ts'
import { eventUsage } from './summarize.ts'
import { withStart } from './with-start.ts'
import { resultOf, terminalEvent } from './terminal-event.ts'
import { ItemCounts } from './record/item-counts.ts'
import { makeRecord } from './record/make-record.ts'
import type { Closing, Conclusion } from './closing.ts'
import type { ResumedSession } from './resumed-session.ts'
import type { Refusal } from './denial-circuit-breaker.ts'

/**
 * Records a run: numbers its items, passes each event to the sinks, and counts what the summary reports. Every item that begins is completed, and there is
 * exactly one terminal event, whatever ended the run.
 */
export class Recorder {
  readonly #sinks: readonly Sink[]
  readonly #startedAt = performance.now()
  readonly #open = new Map<string, Item>()
  readonly #begun = new Set<string>()
  /** What the items so far add up to. */
  readonly counts = new ItemCounts()
  #nextItem = 0
  /** How long the run took until it was concluded first. */
  #tookMs: number | undefined
  #ended: RunSummary | undefined
  #finalMessage = ''
  readonly #mask: Mask
  readonly #writing: ReturnType<typeof maskStream>
  readonly #resumedFrom: ResumedSession | undefined
  #usage = noUsage
  readonly #sandboxStatus: SandboxStatus
  readonly #keep: ((bytes: Uint8Array) => string | undefined) | undefined
  readonly #workspace: string | undefined

  /**
   * @param resumedFrom the resumed session, whose usage is added to the totals. Default: none
   * @param keep stores an event that is too long for one line, and returns the file's path, or undefined if it can't. Default: events are emitted whole
   * @param sandboxStatus the sandbox status in every event. Default: none
   * @param workspace the directory in which the run begins. Default: the run never begins, and has no record
   * @param environment the engine's own environment, whose secrets are masked in everything that is recorded. Default: empty
   */
  constructor(
    sinks: readonly Sink[],
    resumedFrom?: ResumedSession,
    keep?: (bytes: Uint8Array) => string | undefined,
    sandboxStatus: SandboxStatus = {},
    workspace?: string,
    environment: Readonly<NodeJS.ProcessEnv> = {},
  ) {
    this.#mask = maskSecrets(environment)
    this.#writing = maskStream(environment)
    this.#sandboxStatus = sandboxStatus
    this.#sinks = sinks
    this.#keep = keep
    this.#workspace = workspace
    this.#resumedFrom = resumedFrom
  }

  /** The model's last message so far. */
  get finalMessage(): string {
    return this.#finalMessage
  }

  /** The files that patches have changed so far. */
  get patched(): Patched {
    return this.counts.patched
  }

  /** The run's own calls that were refused so far. */
  get refusals(): readonly Refusal[] {
    return this.counts.refusals
  }

  /** The last call that was refused. */
  get lastDenied(): RunSummary['denied'][number] | undefined {
    return this.counts.denied.at(-1)
  }

  /** Emits an event. Events after the terminal event are ignored. */
  emit(event: RunEvent): void {
    if (this.#ended !== undefined) return
    const said = this.#masked(event)
    const told = this.#keep === undefined ? said : fitEvent(said, this.#keep)
    for (const sink of this.#sinks) sink.event(told)
  }

  #masked(event: RunEvent): RunEvent {
    return maskRecord({ ...event, ...this.#sandboxStatus }, this.#mask)
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
      this.#finalMessage = maskRecord(item.text, this.#mask)
      this.#writing.reset()
    }
    this.counts.see(item)
    this.emit({ type: 'item.completed', item })
  }

  /** Emits the beginning of an item that will be completed later. */
  open(draft: ItemDraft): ItemHandle {
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
      began: () => void this.#begun.add(item.id),
      complete: (changes) => {
        const known = this.#open.get(item.id)
        if (known === undefined) return
        this.#open.delete(item.id)
        const done = withStart({ ...known, ...changes } as Item, this.#begun.has(item.id))
        this.counts.see(done)
        this.emit({ type: 'item.completed', item: done })
      },
    }
  }

  /** The record so far, with these changes and commits. */
  recordWith({
    changes,
    commits = [],
  }: { readonly changes: Changes | undefined } & Pick<Closing, 'commits'>): RunRecord {
    const { seen, denied } = this.counts
    const [verified, workspace] = [[...this.counts.verified.values()], this.#workspace]
    const filesChanged = this.#filesChanged(changes)
    return maskRecord(makeRecord({ seen, verified, filesChanged, changes, denied, commits, workspace }), this.#mask)
  }

  #filesChanged(changes: Changes | undefined): RunSummary['filesChanged'] {
    return changes?.files ?? [...this.patched].map(([path, { last }]) => ({ path, kind: last }))
  }

  /**
   * Completes the open items, and returns the summary and the last events with which `end` would end the run. Once the run is over, its summary and no
   * events.
   */
  conclude(
    reason: EndReason,
    error: string | undefined,
    {
      cost,
      auditHead,
      unenforced = [],
      withheld,
      changes,
      transaction,
      contradictions,
      headMoved,
      commits = [],
      review,
    }: Closing = {},
  ): Conclusion {
    if (this.#ended !== undefined) return { summary: this.#ended, events: [] }
    for (const item of [...this.#open.values()]) {
      this.#open.delete(item.id)
      const ended = withStart({ ...item, status: 'failed' } as Item, this.#begun.has(item.id))
      this.counts.seen.see(ended)
      this.emit({ type: 'item.completed', item: ended })
    }
    const { commands, denied, patchNotes, verified } = this.counts
    const summary: RunSummary = {
      exitCode: exitCodes[reason],
      reason,
      error: error === undefined ? undefined : this.#mask(error),
      finalMessage: this.#finalMessage,
      filesChanged: this.#filesChanged(changes),
      changes,
      transaction,
      commands,
      denied,
      ...(patchNotes.length === 0 ? {} : { patchNotes }),
      usage: eventUsage(this.#usage),
      costUsd: cost,
      auditHead,
      unenforced,
      withheld,
      inPlace: this.#sandboxStatus.in_place,
      dangers: this.#sandboxStatus.dangers,
      result: resultOf(reason, review === undefined ? changes : undefined, headMoved, verified.values()),
      ...(verified.size === 0 ? {} : { verified: [...verified.values()] }),
      review,
      record: this.#workspace === undefined ? undefined : this.recordWith({ changes, commits }),
      contradictions,
      durationMs: (this.#tookMs ??= Math.round(performance.now() - this.#startedAt)),
    }
    const last = terminalEvent(summary, this.#resumedFrom, this.#usage)
    const events = summary.error === undefined ? [last] : [{ type: 'error' as const, message: summary.error }, last]
    return { summary, events: events.map((event) => this.#masked(event)) }
  }

  /** Ends the run: emits the last events, and gives the sinks the summary. A run that was ended before stays as it is. */
  end(...how: Parameters<Recorder['conclude']>): RunSummary {
    const { summary, events } = this.conclude(...how)
    if (this.#ended !== undefined) return this.#ended
    for (const event of events) this.emit(event)
    this.#ended = summary
    for (const sink of this.#sinks) sink.end?.(summary)
    return summary
  }

  #number(draft: ItemDraft): Item {
    return { id: `item_${this.#nextItem++}`, ...draft } as Item
  }
}
