import type { HistoryItem, ToolDeclaration } from '../core/model.ts'

type Message = Extract<HistoryItem, { type: 'message' }>
type Result = Extract<HistoryItem, { type: 'tool_result' }>

/** An item of the model: a message, a call, or what only its provider can read. */
export type ModelItem = Exclude<HistoryItem, Result>

/** Everything from one side until the other side's next item. */
export type Turn =
  /** In the order in which it came: providers check that. */
  | { readonly side: 'model'; readonly said: readonly ModelItem[] }
  | { readonly side: 'us'; readonly results: readonly Result[]; readonly messages: readonly Message[] }

/**
 * A history for APIs with two alternating speakers: developer messages at the very start belong to the instructions, later ones become user
 * messages.
 *
 * @returns `instructions`: those of the run, and the description of the environment, each a part that may be cached separately
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

/** For a note in a tool's result, marked so that a model knows that the program speaks and not the tool. */
export function asReminder(text: string): string {
  return text.trim() === '' ? '' : `<system-reminder>\n${text}\n</system-reminder>`
}

/** For whom a turn is translated: the tools of the request, and the model's name as its provider knows it. */
type Addressee = { readonly model: string; readonly tools: readonly ToolDeclaration[] }

/**
 * Translates turns for the API, each of them once: a long run sends the same ones a thousand times. The result for a turn must never
 * change.
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

/** Turns by their first item. One that has grown since is another one. */
const taken = new WeakMap<HistoryItem, { readonly items: readonly HistoryItem[]; readonly turn: Turn }>()

function turnOf(items: readonly HistoryItem[]): Turn {
  const [first] = items
  if (first === undefined) throw new TypeError('a turn without anything said')
  const before = taken.get(first)
  const isSame = before?.items.length === items.length && before.items.every((item, at) => item === items[at])
  if (isSame) return before.turn
  const turn = isOurs(first) ? ourTurn(items) : modelTurn(items)
  taken.set(first, { items, turn })
  return turn
}

/** The items of one side from here on. */
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
