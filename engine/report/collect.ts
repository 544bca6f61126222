import { sumDollars } from '../core/money.ts'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { eventLogName } from '../session/event-log.ts'
import { ReportChanges, relativeTo } from './report-changes.ts'
import { fieldsOf, listOf, numberOf, shortTextsOf, textOf, type Fields } from './fields.ts'
import { findingsOf } from './findings.ts'
import type { Report, ReportRun, RunEnd, Spending } from './report-types.ts'
import { readJsonLines } from './read-lines.ts'
import { SourceError } from './source-error.ts'
import { contextOf, readStart, readTerminal } from './read-run.ts'
import { rolloutItems } from './read-rollout.ts'
import { retryOf, stepOf, type StepDraft } from './report-step.ts'
import { StepStore } from './step-store.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * Creates a report from a session's folder, a single file in it, or the output of `agent exec --json`. The file is read line by line and is never held in
 * memory as a whole. Invalid lines are skipped and counted.
 *
 * @param more records that the file doesn't contain yet. Default: none
 * @returns the report; or, if there is no session at the path or it can't be read, a sentence that says so
 */
export function collectReport(path: string, more: readonly unknown[] = []): Report | string {
  try {
    const file = fileOf(path)
    const collector = new Collector()
    readJsonLines(file, (value) => collector.see(value))
    for (const record of more) collector.see(record)
    return collector.report(path, file)
  } catch (error) {
    // The message is returned, not thrown, because this module is loaded as a separate bundle, whose error class the program wouldn't recognize.
    if (error instanceof SourceError) return error.message
    throw error
  }
}

function fileOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new SourceError(`${path}: there is no session, folder or file with this name.`)
  if (!stat.isDirectory()) return path
  const [events, rollout] = [join(path, eventLogName), join(path, 'rollout.jsonl')]
  if (existsSync(events)) return events
  if (existsSync(rollout)) return rollout
  throw new SourceError(`${path} contains no session: it has neither ${eventLogName} nor rollout.jsonl.`)
}

class Collector {
  readonly #steps = new StepStore()
  readonly #changes = new ReportChanges()
  readonly #runs: Writable<ReportRun>[] = []
  /**
   * Items that have started but not ended, by id. An item becomes a step when it ends. An item that never ends becomes a step when the report is
   * created.
   */
  readonly #open = new Map<string, Fields>()
  readonly #totals = { steps: 0, commands: 0, failedCommands: 0, refused: 0 }
  readonly #findings = findingsOf()
  #threadId = ''
  #unreadable = 0
  #spending: Spending | undefined
  #at: number | undefined

  see(value: unknown): void {
    const record = fieldsOf(value)
    const type = textOf(record['type'])
    if (type === undefined) return void this.#unreadable++
    this.#at = numberOf(record['at']) ?? timeOf(record['at']) ?? this.#at
    switch (type) {
      case 'begin':
        return this.#begin({
          prompt: textOf(record['prompt']),
          context: contextOf(record),
          program: textOf(record['version']),
        })
      case 'event':
        return this.#event(fieldsOf(record['event']))
      case 'spent':
        return 'usage' in record ? undefined : this.#spent(record)
      case 'summary':
        return this.#changes.list(record['files'], this.#runs.at(-1)?.workspace)
      case 'session':
        this.#threadId = textOf(record['thread_id']) ?? ''
        return
      case 'run':
        return this.#begin({ model: textOf(record['model']) })
      case 'item':
      case 'response':
      case 'end':
        return 'id' in fieldsOf(record['item']) ? this.#event(record) : this.#rollout(type, record)
      default:
        // This is a line of `--json` output: the whole line is the event.
        return this.#event(record)
    }
  }

  report(source: string, file: string): Report {
    if (this.#runs.length === 0 && this.#totals.steps === 0) {
      throw new SourceError(
        `${file} contains no run. Expected the events or the rollout of a session, one JSON object per line.`,
      )
    }
    for (const item of this.#open.values()) {
      const draft = stepOf(item)
      if (draft !== undefined) this.#step(draft)
    }
    const runs = this.#runs.length === 0 ? [emptyRun()] : this.#runs
    const last = runs.at(-1)
    return {
      threadId: this.#threadId,
      source,
      runs,
      ...this.#steps.result(),
      files: this.#changes.files(),
      findings: this.#findings.list(last),
      totals: this.#totals,
      unreadable: this.#unreadable,
    }
  }

  #begin(known: Partial<ReportRun>): void {
    this.#runs.push({ ...emptyRun(), began: this.#at, ...known })
    this.#spending = undefined
  }

  #run(): Writable<ReportRun> {
    if (this.#runs.length === 0) this.#begin({})
    return this.#runs.at(-1) as Writable<ReportRun>
  }

  #event(event: Fields): void {
    const item = fieldsOf(event['item'])
    const id = textOf(item['id'])
    switch (event['type']) {
      case 'thread.started': {
        // Only the event log has `begin` records. Without one, as in the output of `--json`, a run begins with its first event.
        if (this.#runs.length === 0 || this.#run().end !== undefined) this.#begin({})
        this.#threadId = textOf(event['thread_id']) ?? this.#threadId
        Object.assign(this.#run(), readStart(event))
        return
      }
      case 'item.started': {
        if (id !== undefined) this.#open.set(id, item)
        return
      }
      case 'item.completed': {
        // The record counts connections and uses, of which there may be very many.
        if (item['type'] === 'service_connection' || item['type'] === 'credential_use') return
        const draft = stepOf(item)
        if (id !== undefined) this.#open.delete(id)
        if (draft === undefined) this.#unreadable++
        else this.#step(draft)
        return
      }
      case 'error': {
        const draft = retryOf(event)
        if (draft !== undefined) this.#step(draft)
        return
      }
      case 'turn.completed':
      case 'turn.failed': {
        const run = this.#run()
        run.end = readTerminal(event)
        run.notes = [...new Set([...run.notes, ...shortTextsOf(event['sandbox_unenforced'])])]
        return
      }
      default:
        return
    }
  }

  #rollout(type: string, record: Fields): void {
    if (type === 'end') {
      const run = this.#run()
      run.end = readTerminal({ type: record['reason'] === 'done' ? 'turn.completed' : 'turn.failed', ...record })
      return
    }
    const { items, prompt } = rolloutItems(type === 'item' ? [record['item']] : listOf(record['items']))
    if (prompt !== undefined) this.#run().prompt ??= prompt
    for (const draft of items) this.#step(draft)
  }

  #step(given: StepDraft): void {
    const draft = within(given, this.#runs.at(-1)?.workspace)
    const totals = this.#totals
    const number = ++totals.steps
    if (draft.kind === 'command' && draft.status !== 'refused') {
      totals.commands++
      if (draft.status === 'failed') totals.failedCommands++
    }
    if (draft.status === 'refused') totals.refused++
    const spent = this.#spending
    this.#spending = undefined
    const step = {
      ...draft,
      number,
      at: this.#at,
      spent: spent === undefined ? undefined : { tokens: spent.tokens, costUsd: spent.costUsd },
    }
    this.#findings.see(step)
    if (draft.kind !== 'patch') return this.#steps.add(step)
    this.#changes.see(step)
    this.#steps.add({ ...step, parts: step.parts.filter(({ format }) => format !== 'diff') })
  }

  #spent(record: Fields): void {
    const run = this.#run()
    const before = run.spending.at(-1)
    const [tokens, costUsd] = [numberOf(record['tokens']) ?? 0, numberOf(record['costUsd'])]
    const turns = numberOf(record['turns']) ?? (before?.turns ?? 0) + 1
    const next: Spending = { step: this.#totals.steps + 1, turns, tokens, costUsd }
    // Usage that isn't part of a response, such as that of sub-agents, doesn't get its own point in the chart. Instead, the last point gets the new
    // totals.
    const points = before?.turns === turns ? run.spending.slice(0, -1) : run.spending
    run.spending = thinned([...points, next])
    const more = { tokens: this.#spending?.tokens ?? 0, costUsd: this.#spending?.costUsd ?? 0 }
    this.#spending = {
      ...next,
      tokens: tokens - (before?.tokens ?? 0) + more.tokens,
      costUsd: costUsd === undefined ? undefined : sumDollars([costUsd, -(before?.costUsd ?? 0), more.costUsd]),
    }
  }
}

/** Makes the paths of the files that a step changed relative to the workspace, also in the step's title. */
function within(draft: StepDraft, workspace: string | undefined): StepDraft {
  if (workspace === undefined || draft.files.length === 0) return draft
  const files = draft.files.map((file) => ({ ...file, path: relativeTo(workspace, file.path) }))
  return { ...draft, files, title: files.map(({ path }) => path).join(', ') }
}

/** Drops points when there are too many: a chart needs no more points than it has pixels. */
function thinned(points: readonly Spending[]): readonly Spending[] {
  return points.length <= 1000 ? points : points.filter((_, at) => at % 2 === 1 || at === points.length - 1)
}

function timeOf(value: unknown): number | undefined {
  const time = Date.parse(textOf(value) ?? '')
  return Number.isNaN(time) ? undefined : time
}

function emptyRun(): Writable<ReportRun> {
  return {
    ...{ prompt: undefined, context: [], model: undefined, workspace: undefined, configuration: [], notes: [] },
    ...{ outside: [], budget: {}, began: undefined, program: undefined, end: undefined as RunEnd | undefined },
    ...{ spending: [], ephemeral: false, verify: [] },
  }
}
