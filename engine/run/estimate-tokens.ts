import type { HistoryItem } from '../model.ts'

const charactersPerToken = 4
/** Of one picture: providers bill about as much for one that fills their largest tile. */
const tokensPerImage = 1500

/** About how many tokens an item takes in a request. Only good enough to see a full window coming. */
export function estimateTokens(item: HistoryItem): number {
  switch (item.type) {
    case 'message':
      return ofText(item.text) + tokensPerImage * (item.images?.length ?? 0)
    case 'reasoning':
      return ofText(item.opaque === undefined ? item.text : JSON.stringify(item.opaque))
    case 'web_search':
      return ofText(item.opaque === undefined ? item.query : JSON.stringify(item.opaque))
    case 'tool_call':
      return ofText(item.call.name) + ofText(item.call.input)
    case 'tool_result':
      return ofText(item.output) + tokensPerImage * (item.images?.length ?? 0)
    default:
      return item satisfies never
  }
}

function ofText(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}
