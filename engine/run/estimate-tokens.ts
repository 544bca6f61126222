import type { HistoryItem } from '../core/model.ts'

/** How the tokens of texts and images are estimated. */
type Measure = { readonly ofText: (text: string) => number; readonly ofImage: number }

/**
 * An estimate that suits ordinary code and prose. It is calculated from UTF-8 bytes, not characters: in writing systems without spaces, a character is
 * usually one token and has three bytes, which is close to the bytes per token of English text and code. The value for images is approximately what
 * providers bill for an image of the largest size that they process.
 */
const usual: Measure = { ofText: (text) => Math.ceil(Buffer.byteLength(text) / 3.6), ofImage: 1500 }

/** An upper bound: in no language does a text have more than one token for every two bytes. */
const high: Measure = { ofText: (text) => Math.ceil(Buffer.byteLength(text) / 2), ofImage: 3000 }

/** The approximate number of tokens of an item in a request: precise enough to predict when the model's window will be full. */
export function estimateTokens(item: HistoryItem): number {
  return measured(item, usual)
}

/** The approximate number of tokens of a text. */
export function estimateTokensOfText(text: string): number {
  return usual.ofText(text)
}

/** An upper bound on the number of tokens in an item. */
export function mostTokens(item: HistoryItem): number {
  return measured(item, high)
}

/** An upper bound on the number of tokens in a text. */
export function mostTokensOfText(text: string): number {
  return high.ofText(text)
}

function measured(item: HistoryItem, { ofText, ofImage }: Measure): number {
  switch (item.type) {
    case 'message':
      return ofText(item.text) + ofImage * (item.images?.length ?? 0)
    case 'reasoning':
      return ofText(item.opaque === undefined ? item.text : JSON.stringify(item.opaque))
    case 'web_search':
      return ofText(item.opaque === undefined ? item.query : JSON.stringify(item.opaque))
    case 'tool_call':
      return ofText(item.call.name) + ofText(item.call.input)
    case 'tool_result':
      return ofText(item.output) + ofImage * (item.images?.length ?? 0)
    default:
      return item satisfies never
  }
}
