import type { HistoryItem, ToolDeclaration } from '../core/model.ts'

type Message = Extract<HistoryItem, { type: 'message' }>
type Result = Extract<HistoryItem, { type: 'tool_result' }>

/** An item from the model: a message, a call, or something that only its provider can read. */
export type ModelItem = Exclude<HistoryItem, Result>

/** Everything that one side says until the other side's next item. */
export type Turn =
  /** The items, in the order in which they arrived. Providers check this order. */
  | { readonly side: 'model'; readonly said: readonly ModelItem[] }
  | { readonly side: 'us'; readonly results: readonly Result[]; readonly messages: readonly Message[] }

/**
 * Divides a history into turns for APIs with two alternating speakers. Developer messages at the very start become part of the
 * instructions; later ones become user messages.
 *
 * @returns `instructions`: the run's instructions and the description of the environment, as separate parts so that each can be cached
 */
export function takeTurns(
  instructions: string,
  history: readonly HistoryItem[],
): { readonly instructions: readonly string[]; readonly turns: readonly Turn[] } {
  const isDeveloper = (item: HistoryItem): boolean => item.type === 'message' && item.role === 'developer'
  const start = history.findIndex((item) => !isDeveloper(item))
  const leading = start === -1 ? history : history.slice(0, start)
  const turns: Turn[] = []
  for (let from = leading.length; from < history.length;) {
    const items = sameSide(history, from)
    turns.push(turnOf(items))
    from += items.length
  }
  const texts = leading.flatMap((item) => (item.type === 'message' ? [item.text] : []))
  return { instructions: [instructions, texts.join('\n\n')].filter((text) => text !== ''), turns }
}

/** Marks a note in a tool's result, so that the model knows that the note comes from the program and not from the tool. */
export function asReminder(text: string): string {
  return text.trim() === '' ? '' : `<system-reminder>\n${text}\n</system-reminder>`
}

/** What the translation of a turn depends on: the provider's name for the model, and the tools of the request. */
type Addressee = { readonly model: string; readonly tools: readonly ToolDeclaration[] }

/**
 * Wraps a translation so that each turn is translated only once, because a long run sends the same turns a thousand times. The translation of a turn
 * must never change.
 */
export function translateOnce<Wire>(
  translate: (turn: Turn, to: Addressee) => readonly Wire[],
): (turn: Turn, to: Addressee) => readonly Wire[] {
  const known = new WeakMap<Turn, { readonly to: Addressee; readonly wire: readonly Wire[] }>()
  return (turn, to) => {
    const before = known.get(turn)
    if (before?.to.tools === to.tools && before.to.model === to.model) return before.wire
    const wire = translate(turn, to)
    known.set(turn, { to, wire })
    return wire
  }
}

/** Maps the first item of a turn to the turn that was last created from it. If the turn has more items by now, it is created anew. */
const taken = new WeakMap<HistoryItem, { readonly items: readonly HistoryItem[]; readonly turn: Turn }>()

function turnOf(items: readonly HistoryItem[]): Turn {
  const [first] = items
  if (first === undefined) throw new TypeError('a turn must have at least one item')
  const before = taken.get(first)
  const isSame = before?.items.length === items.length && before.items.every((item, at) => item === items[at])
  if (isSame) return before.turn
  const turn = isOurs(first) ? ourTurn(items) : modelTurn(items)
  taken.set(first, { items, turn })
  return turn
}

/** Returns the items from position `from` up to, but not including, the next item from the other side. */
function sameSide(history: readonly HistoryItem[], from: number): readonly HistoryItem[] {
  let to = from
  const first = history[from]
  for (let item = first; item !== undefined && first !== undefined; item = history[++to]) {
    if (isOurs(item) !== isOurs(first)) break
  }
  return history.slice(from, to)
}

function isOurs(item: HistoryItem): boolean {
  return item.type === 'tool_result' || (item.type === 'message' && item.role !== 'assistant')
}

function modelTurn(items: readonly HistoryItem[]): Turn {
  return { side: 'model', said: items.filter((item) => item.type !== 'tool_result') }
}

function ourTurn(items: readonly HistoryItem[]): Turn {
  return {
    side: 'us',
    results: items.filter((item) => item.type === 'tool_result'),
    messages: items.filter((item) => item.type === 'message'),
  }
}
