import type { HistoryItem, ToolCall } from '../model.ts'

type Message = Extract<HistoryItem, { type: 'message' }>
type Unread = Extract<HistoryItem, { type: 'reasoning' | 'web_search' }>
type Result = Extract<HistoryItem, { type: 'tool_result' }>

/** What one side said before the other spoke again. */
export type Turn =
  | {
      readonly side: 'model'
      /** What only the provider that made it can read: reasoning and searches, in order. */
      readonly unread: Unread[]
      readonly texts: string[]
      readonly calls: ToolCall[]
    }
  | { readonly side: 'us'; readonly results: Result[]; readonly messages: Message[] }

/**
 * A history as the APIs see it that only know two speakers taking turns: developer messages at the very start belong to
 * the instructions, later ones are said by the user.
 */
export function takeTurns(
  instructions: string,
  history: readonly HistoryItem[],
): { readonly instructions: string; readonly turns: readonly Turn[] } {
  const isDeveloper = (item: HistoryItem): boolean => item.type === 'message' && item.role === 'developer'
  const start = history.findIndex((item) => !isDeveloper(item))
  const leading = start === -1 ? history : history.slice(0, start)
  const turns: Turn[] = []
  for (const item of history.slice(leading.length)) add(item, turns)
  const texts = leading.flatMap((item) => (item.type === 'message' ? [item.text] : []))
  return { instructions: [instructions, ...texts].filter((text) => text !== '').join('\n\n'), turns }
}

function add(item: HistoryItem, turns: Turn[]): void {
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant') modelTurn(turns).texts.push(item.text)
      else ourTurn(turns).messages.push(item)
      return
    case 'reasoning':
    case 'web_search':
      modelTurn(turns).unread.push(item)
      return
    case 'tool_call':
      modelTurn(turns).calls.push(item.call)
      return
    case 'tool_result':
      ourTurn(turns).results.push(item)
      return
    default:
      return item satisfies never
  }
}

function modelTurn(turns: Turn[]): Extract<Turn, { side: 'model' }> {
  const last = turns.at(-1)
  if (last?.side === 'model') return last
  const turn = { side: 'model' as const, unread: [], texts: [], calls: [] }
  turns.push(turn)
  return turn
}

function ourTurn(turns: Turn[]): Extract<Turn, { side: 'us' }> {
  const last = turns.at(-1)
  if (last?.side === 'us') return last
  const turn = { side: 'us' as const, results: [], messages: [] }
  turns.push(turn)
  return turn
}
