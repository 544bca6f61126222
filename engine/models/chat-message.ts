/** The fields of a message and of a call that this program knows. All other fields are stored and sent back. */
const ofMessage = ['role', 'content', 'refusal', 'tool_calls', 'function_call', 'reasoning_content', 'reasoning']
const ofCall = ['index', 'id', 'type', 'function']

/** Returns those fields that this program doesn't know from a streamed piece of a message. Fields that are null are left out. */
export function moreOfMessage(piece: object): Record<string, unknown> {
  return without(piece, ofMessage)
}

/** Returns those fields that this program doesn't know from a streamed piece of a call. Fields that are null are left out. */
export function moreOfCall(piece: object): Record<string, unknown> {
  return without(piece, ofCall)
}

function without(piece: object, known: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(piece).filter(([name, value]) => !known.includes(name) && value !== null && value !== undefined),
  )
}

/** Text fields whose pieces are concatenated. In all other text fields, a later text that isn't empty replaces the earlier one. */
const growing = new Set(['text', 'summary', 'thinking', 'content', 'arguments'])

/**
 * Merges the unknown fields of another piece into `had`. List elements with the same `index` and `type` are pieces of one element, as in
 * OpenRouter's `reasoning_details` (https://openrouter.ai/docs/use-cases/reasoning-tokens). Other list elements are appended.
 */
export function addMore(had: Record<string, unknown>, piece: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(piece)) had[name] = joined(name, had[name], value)
}

function joined(name: string, had: unknown, value: unknown): unknown {
  if (had === undefined || had === null) return structuredClone(value)
  if (typeof had === 'string' && typeof value === 'string') {
    if (growing.has(name)) return had + value
    return value === '' ? had : value
  }
  if (Array.isArray(had) && Array.isArray(value)) return joinedLists(had, value)
  if (isTable(had) && isTable(value)) {
    addMore(had, value)
    return had
  }
  return value ?? had
}

function joinedLists(had: readonly unknown[], pieces: readonly unknown[]): unknown[] {
  const all = [...had]
  for (const piece of pieces) {
    const same = all.find((each) => isPieceOf(each, piece))
    if (isTable(same) && isTable(piece)) addMore(same, piece)
    else all.push(structuredClone(piece))
  }
  return all
}

function isPieceOf(each: unknown, piece: unknown): boolean {
  if (!isTable(each) || !isTable(piece) || typeof piece['index'] !== 'number') return false
  return each['index'] === piece['index'] && (each['type'] ?? '') === (piece['type'] ?? '')
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
