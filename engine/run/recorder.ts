import type { Item, ItemDraft, RunEvent, RunRecord, RunSummary, Sink, UsageSoFar, Verified } from '../core/events.ts'
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
import { eventUsage, isJudged, isLookUp, subject, verifiedBy } from './summarize.ts'
import { withStart } from './with-start.ts'
import { resultOf, terminalEvent } from './terminal-event.ts'
import { CommandsSeen } from './record/commands-seen.ts'
import { makeRecord } from './record/make-record.ts'
import type { Closing } from './closing.ts'
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
  readonly #patched = new Map<string, { readonly first: string; readonly last: string }>()
  readonly #denied: { what: string; reason: string }[] = []
  readonly #refusals: Refusal[] = []
  readonly #patchNotes: string[] = []
  #commandsRun = 0
  #commandsFailed = 0
  #nextItem = 0
  #ended: RunSummary | undefined
  #finalMessage = ''
  readonly #mask: Mask
  readonly #writing: ReturnType<typeof maskStream>
  readonly #resumedFrom: ResumedSession | undefined
  #usage = noUsage
  /** The commands that tested or pushed something. */
  readonly seen = new CommandsSeen()
  /** The last result of each `--verify` command. */
  readonly verified = new Map<string, Verified>()
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
    return this.#patched
  }

  /** The run's own calls that were refused so far. */
  get refusals(): readonly Refusal[] {
    return this.#refusals
  }

  /** The last call that was refused. */
  get lastDenied(): RunSummary['denied'][number] | undefined {
    return this.#denied.at(-1)
  }

  /** Emits an event. Events after the terminal event are ignored. */
  emit(event: RunEvent): void {
    if (this.#ended !== undefined) return
    const said = maskRecord({ ...event, ...this.#sandboxStatus }, this.#mask)
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
      this.#finalMessage = maskRecord(item.text, this.#mask)
      this.#writing.reset()
    }
    this.#count(item)
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
        this.#count(done)
        this.emit({ type: 'item.completed', item: done })
      },
    }
  }

  /** The record so far, with these changes and commits. */
  recordWith({
    changes,
    commits = [],
  }: { readonly changes: Changes | undefined } & Pick<Closing, 'commits'>): RunRecord {
    const [seen, verified] = [this.seen, [...this.verified.values()]]
    const [filesChanged, denied, workspace] = [this.#filesChanged(changes), this.#denied, this.#workspace]
    return maskRecord(makeRecord({ seen, verified, filesChanged, changes, denied, commits, workspace }), this.#mask)
  }

  #filesChanged(changes: Changes | undefined): RunSummary['filesChanged'] {
    return changes?.files ?? [...this.#patched].map(([path, { last }]) => ({ path, kind: last }))
  }

  /** Ends the run: closes open items, emits the terminal event, and gives the sinks the summary. A run that was ended before stays as it is. */
  end(
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
  ): RunSummary {
    if (this.#ended !== undefined) return this.#ended
    for (const item of [...this.#open.values()]) {
      this.#open.delete(item.id)
      const ended = withStart({ ...item, status: 'failed' } as Item, this.#begun.has(item.id))
      this.seen.see(ended)
      this.emit({ type: 'item.completed', item: ended })
    }
    const summary: RunSummary = {
      exitCode: exitCodes[reason],
      reason,
      error: error === undefined ? undefined : this.#mask(error),
      finalMessage: this.#finalMessage,
      filesChanged: this.#filesChanged(changes),
      changes,
      transaction,
      commands: { run: this.#commandsRun, failed: this.#commandsFailed },
      denied: this.#denied,
      ...(this.#patchNotes.length === 0 ? {} : { patchNotes: this.#patchNotes }),
      usage: eventUsage(this.#usage),
      costUsd: cost,
      auditHead,
      unenforced,
      withheld,
      inPlace: this.#sandboxStatus.in_place,
      dangers: this.#sandboxStatus.dangers,
      result: resultOf(reason, review === undefined ? changes : undefined, headMoved, this.verified.values()),
      ...(this.verified.size === 0 ? {} : { verified: [...this.verified.values()] }),
      review,
      record: this.#workspace === undefined ? undefined : this.recordWith({ changes, commits }),
      contradictions,
      durationMs: Math.round(performance.now() - this.#startedAt),
    }
    if (summary.error !== undefined) this.emit({ type: 'error', message: summary.error })
    this.emit(terminalEvent(summary, this.#resumedFrom, this.#usage))
    this.#ended = summary
    for (const sink of this.#sinks) sink.end?.(summary)
    return summary
  }

  #number(draft: ItemDraft): Item {
    return { id: `item_${this.#nextItem++}`, ...draft } as Item
  }

  #count(item: Item): void {
    this.seen.see(item)
    if (isJudged(item) && item.verdict !== undefined && item.verdict.decision !== 'allow') {
      this.#denied.push({ what: subject(item), reason: item.verdict.reason })
      if (item.agent_id === undefined) this.#refusals.push({ what: subject(item), isLookUp: isLookUp(item) })
    }
    if (item.type === 'command_execution' && item.status !== 'declined') {
      this.#commandsRun++
      if (item.status === 'failed') this.#commandsFailed++
    }
    if (item.type === 'verification') this.verified.set(item.command, verifiedBy(item))
    if (item.type === 'file_change' && item.status === 'completed') {
      this.#patchNotes.push(...(item.notes ?? []))
      for (const { path, kind } of item.changes) {
        this.#patched.set(path, { first: this.#patched.get(path)?.first ?? kind, last: kind })
      }
    }
  }
}
