import type { HistoryItem } from '../core/model.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { estimateTokens } from './estimate-tokens.ts'

/** A response of the model with the results of its calls, or a message to the model: a unit that must not be split. */
type Block = readonly HistoryItem[]

const charactersPerToken = 4

/** The developer messages at the beginning of a history, such as the environment and the instructions of the user and the repository. */
export function leadingContext(history: readonly HistoryItem[]): readonly HistoryItem[] {
  const end = history.findIndex((item) => item.type !== 'message' || item.role !== 'developer')
  return end === -1 ? history : history.slice(0, end)
}

/**
 * Returns as much of the end of a history as fits into a number of tokens. A call is never separated from its result, nor a response from its
 * reasoning. The last block is always kept, since the model hasn't read it yet; its results are shortened if it is too long.
 */
export function recentTurns(history: readonly HistoryItem[], maxTokens: number): readonly HistoryItem[] {
  const kept: Block[] = []
  let tokens = 0
  for (const block of blocksOf(history.slice(leadingContext(history).length)).toReversed()) {
    const more = tokensOf(block)
    if (kept.length > 0 && tokens + more > maxTokens) break
    kept.unshift(more > maxTokens ? shorten(block, maxTokens) : block)
    tokens += more
  }
  return kept.flat()
}

function blocksOf(history: readonly HistoryItem[]): readonly Block[] {
  const blocks: HistoryItem[][] = []
  let previous: HistoryItem | undefined
  for (const item of history) {
    const begins = previous === undefined || (isModels(item) ? !isModels(previous) : item.type === 'message')
    if (begins) blocks.push([])
    blocks.at(-1)?.push(item)
    previous = item
  }
  return blocks
}

/** Whether the model produced this item. */
function isModels(item: HistoryItem): boolean {
  return item.type === 'message' ? item.role === 'assistant' : item.type !== 'tool_result'
}

function tokensOf(block: Block): number {
  return block.reduce((sum, item) => sum + estimateTokens(item), 0)
}

function shorten(block: Block, maxTokens: number): Block {
  const results = block.filter(({ type }) => type === 'tool_result').length
  const each = Math.max(400, Math.floor((maxTokens * charactersPerToken) / Math.max(1, results)))
  return block.map((item) => {
    if (item.type !== 'tool_result') return item
    const { images: _, ...text } = item
    return { ...text, output: truncateMiddle(item.output, each).text }
  })
}
