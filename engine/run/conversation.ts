import type { HistoryItem, ToolCall, Usage } from '../core/model.ts'
import type { Rollout } from '../session/rollout.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { RepeatWatch } from './repeat-watch.ts'
import type { ResumedSession } from './resumed-session.ts'

/**
 * The history of a run. Only this class changes the history. Each item is stored in the rollout as soon as it is added, so that a killed run can be
 * resumed.
 */
export class Conversation {
  #items: HistoryItem[]
  readonly #original: HistoryItem[]
  readonly #rollout: Rollout
  readonly #open = new Map<string, ToolCall>()
  readonly #repeats = new RepeatWatch()
  readonly #fixed: number
  #tokens: number
  /** The ratio between the provider's token counts and our estimates. */
  #scale = 1

  /**
   * @param resumedFrom the history of a resumed session
   * @param fixed the approximate number of tokens that a request has in addition to the conversation, for instructions and tools. Default: 0
   */
  constructor(rollout: Rollout, resumedFrom?: Pick<ResumedSession, 'history' | 'original' | 'counted'>, fixed = 0) {
    const { history, original, counted } = resumedFrom ?? { history: [], original: [] }
    this.#fixed = fixed
    this.#rollout = rollout
    this.#items = [...history]
    this.#original = [...original]
    const { tokens, items } = counted === undefined || counted.tokens === 0 ? { tokens: fixed, items: 0 } : counted
    this.#tokens = tokens + sumTokens(history.slice(items))
    for (const item of unanswered(history)) this.add(item)
  }

  /** The items that the model gets. */
  get items(): readonly HistoryItem[] {
    return this.#items
  }

  /** All items of the conversation so far, including those that the model no longer sees. */
  get original(): readonly HistoryItem[] {
    return this.#original
  }

  /**
   * Approximately how many tokens the next request will have: the provider's last count plus an estimate of everything added since then. Before the
   * first count, and after compaction, everything is estimated.
   */
  get tokens(): number {
    return this.#tokens
  }

  /** Approximately how many tokens the conversation itself has. */
  get ownTokens(): number {
    return sumTokens(this.#items)
  }

  /**
   * The reason to end the run if the model keeps repeating a call, or its answers keep being cut off in the middle of a call; otherwise undefined.
   */
  get repeated(): string | undefined {
    return this.#repeats.exhausted()
  }

  add(item: HistoryItem): void {
    const kept = this.#watch(item)
    this.#rollout.append({ type: 'item', item: kept })
    this.#push(kept)
  }

  /** Adds a complete response. It is stored as a whole before any of its calls that may change something begins, so that it survives a power cut. */
  addResponse(items: readonly HistoryItem[], usage: Usage, cost: number | undefined): void {
    this.#rollout.append({ type: 'response', items, usage, ...priced(cost) })
    this.#rollout.sync()
    for (const item of items) this.#push(this.#watch(item))
    const counted = usage.inputTokens + usage.outputTokens
    if (counted === 0) return
    this.#tokens = counted
    this.#scale = within(counted / (this.#fixed + sumTokens(this.#items)))
  }

  /** Records usage that belongs to no response, such as that of a failed attempt or a summary. */
  addSpent(usage: Usage, cost: number | undefined): void {
    this.#rollout.append({ type: 'spent', usage, ...priced(cost) })
  }

  /** Replaces the items that the model gets from now on. The rollout keeps both the old and the new items. */
  replace(items: readonly HistoryItem[]): void {
    this.#rollout.append({ type: 'compaction', items })
    this.#rollout.sync()
    this.#items = [...items]
    this.#tokens = Math.ceil(this.#scale * (this.#fixed + sumTokens(items)))
  }

  #push(item: HistoryItem): void {
    this.#items.push(item)
    this.#original.push(item)
    this.#tokens += Math.ceil(this.#scale * estimateTokens(item))
  }

  /** Finds the call that a result answers. If the model is repeating itself, adds a note for the model to the result. */
  #watch(item: HistoryItem): HistoryItem {
    if (item.type === 'tool_call') this.#open.set(item.call.id, item.call)
    if (item.type !== 'tool_result') return item
    const call = this.#open.get(item.callId)
    this.#open.delete(item.callId)
    const note = call === undefined ? undefined : this.#repeats.see(call, item.output)
    return note === undefined ? item : { ...item, output: `${item.output}\n${note}` }
  }
}

/** Keeps the ratio between a provider's count and our estimate within bounds, since mocks and unusual servers report arbitrary counts. */
function within(scale: number): number {
  return Math.min(2, Math.max(0.5, scale))
}

function sumTokens(items: readonly HistoryItem[]): number {
  return items.reduce((sum, item) => sum + estimateTokens(item), 0)
}

function priced(cost: number | undefined): { readonly cost_usd?: number } {
  return cost === undefined ? {} : { cost_usd: cost }
}

/**
 * Creates results for calls that have none because their run was interrupted. Such a call may have had an effect, so it isn't repeated, and the model is told
 * to check.
 */
function unanswered(history: readonly HistoryItem[]): readonly HistoryItem[] {
  const answered = new Set(history.flatMap((item) => (item.type === 'tool_result' ? [item.callId] : [])))
  return history.flatMap((item): readonly HistoryItem[] => {
    if (item.type !== 'tool_call' || answered.has(item.call.id)) return []
    const output =
      'The run was interrupted before this call had a result. The call may have run completely, partly or not at all: check before you repeat it.'
    return [{ type: 'tool_result', callId: item.call.id, output, ok: false }]
  })
}
