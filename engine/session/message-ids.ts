import { createHash } from 'node:crypto'
import type { HistoryItem } from '../core/model.ts'
import { UserError } from '../core/user-error.ts'
import type { ReadRollout } from './rollout.ts'
import { cutTo, stepsOf } from './steps.ts'

/** What tells items of a conversation apart: for a text its beginning, because an event may contain a long text only in part. */
const longestKey = 200

/**
 * The ids of the items of a session that a client gets. They follow from the session's id and what is said in it, so that they are the same in every
 * process, and needn't be stored.
 */
export class MessageIds {
  readonly #threadId: string
  readonly #counts = new Map<string, number>()

  /** @param said what has been said before */
  constructor(threadId: string, said: readonly HistoryItem[] = []) {
    this.#threadId = threadId
    for (const item of said) this.next(item)
  }

  /** The id, a UUID, of the next item of the conversation; undefined for messages to the model. */
  next(item: HistoryItem): string | undefined {
    const what = keyOf(item)
    if (what === undefined) return undefined
    const key = JSON.stringify([item.type, what.slice(0, longestKey)])
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    const hash = createHash('sha256')
      .update(JSON.stringify([this.#threadId, key, count]))
      .digest('hex')
    // Version 8: a UUID whose bits the program has chosen.
    return [
      hash.slice(0, 8),
      hash.slice(8, 12),
      `8${hash.slice(13, 16)}`,
      `a${hash.slice(17, 20)}`,
      hash.slice(20, 32),
    ].join('-')
  }
}

function keyOf(item: HistoryItem): string | undefined {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant' ? item.text : undefined
    case 'reasoning':
      return item.text
    case 'tool_call':
      return item.call.id
    case 'tool_result':
      return item.callId
    case 'web_search':
      return item.query
    default:
      return item satisfies never
  }
}

/**
 * Returns a session whose conversation ends with the item that has an id, or with the results of the response that the item belongs to if there are calls in it up to
 * there.
 *
 * @throws UserError `usage` if the session has no such item
 */
export function cutAtMessage(rollout: ReadRollout, id: string): ReadRollout {
  const { thread_id: own, forked_from: earlier } = rollout.session
  for (const threadId of [own, ...(earlier === undefined ? [] : [earlier])]) {
    const ids = new MessageIds(threadId)
    const at = rollout.original.findIndex((item) => ids.next(item) === id)
    if (at >= 0) return cutTo(rollout, endAt(rollout, at))
  }
  throw new UserError('usage', `The session ${own} has no message ${JSON.stringify(id)} that it could be resumed at.`)
}

/** A conversation can end with a text, but not with a call without its result, or with the reasoning that led to what is left out. */
function endAt(rollout: ReadRollout, at: number): number {
  const step = stepsOf(rollout).find(({ end }) => end > at)
  const isText = rollout.original[at]?.type === 'message'
  const before =
    step === undefined ? [] : rollout.original.slice(step.end - step.items.length - step.results.length, at)
  return step === undefined || (isText && before.every(({ type }) => type !== 'tool_call')) ? at + 1 : step.end
}
