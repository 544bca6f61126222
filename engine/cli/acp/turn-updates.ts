import { randomUUID } from 'node:crypto'
import { builtInTools } from '../../app/built-in-tools.ts'
import type { Item, RunEvent, Sink, StartedCall } from '../../core/events.ts'
import type { HistoryItem } from '../../core/model.ts'
import { viewsOfCall } from '../show-call.ts'
import { warn } from '../warn.ts'
import { showToolCall, text } from './show-tool-call.ts'

/** Says what happens in a turn, or happened in earlier ones, in updates of the protocol. */
export class TurnUpdates {
  readonly #update: (kind: string, update: object) => void
  readonly #cwd: string
  /** The calls by their ids, as the model made them. */
  readonly calls = new Map<string, StartedCall>()
  readonly #open = new Set<string>()
  #messageId: string = randomUUID()
  /** What has been sent of the message that the model is writing. */
  #streamed = ''

  constructor(cwd: string, update: (kind: string, update: object) => void) {
    this.#cwd = cwd
    this.#update = update
  }

  readonly sink: Sink = {
    event: (event) => this.#event(event),
    delta: (said) => {
      this.#streamed += said
      this.#say('agent_message_chunk', said)
    },
    call: (call) => {
      this.calls.set(call.id, call)
      this.#open.add(call.id)
      this.#update('tool_call', { toolCallId: call.id, status: 'pending', ...this.#shown(call) })
    },
    outcome: (id, { output, ok }) => this.#end(id, ok, output),
  }

  /** Ends the updates of the turn: calls that were given up have failed. */
  end(): void {
    for (const id of [...this.#open]) this.#end(id, false, 'The call was given up.')
  }

  /** Says what was said and done before. */
  replay(history: readonly HistoryItem[]): void {
    for (const item of history) {
      if (item.type === 'message' && item.role === 'user') this.#say('user_message_chunk', item.text)
      if (item.type === 'message' && item.role === 'assistant') this.#say('agent_message_chunk', item.text)
      if (item.type === 'reasoning') this.#say('agent_thought_chunk', item.text)
      if (item.type === 'tool_call') {
        const { id, name: tool, input } = item.call
        const claudeNames = builtInTools.find(({ name }) => name === tool)?.claudeNames ?? []
        this.sink.call?.({ id, tool, claudeNames, input: inputOf(input) })
      }
      if (item.type === 'tool_result') this.#end(item.callId, item.ok, item.output)
    }
    this.end()
  }

  #event(event: RunEvent): void {
    if (!('item' in event) || event.item.agent_id !== undefined) return
    const { item } = event
    if (item.type === 'todo_list') this.#plan(item)
    if (event.type === 'item.completed') this.#item(item)
    const id = 'call_id' in item && item.type !== 'guardian_assessment' ? item.call_id : undefined
    if (event.type === 'item.started' && id !== undefined && this.#open.has(id))
      this.#update('tool_call_update', { toolCallId: id, status: 'in_progress' })
  }

  #item(item: Item): void {
    if (item.type === 'reasoning') this.#say('agent_thought_chunk', item.text)
    if (item.type === 'error') warn(item.message)
    if (item.type === 'web_search') {
      const shown = { title: `Searched the web: ${item.query}`, kind: 'fetch', status: 'completed' }
      this.#update('tool_call', { toolCallId: randomUUID(), ...shown })
    }
    if (item.type !== 'agent_message') return
    // The end may have been held back until it was clear that it is no secret.
    const rest = item.text.startsWith(this.#streamed) ? item.text.slice(this.#streamed.length) : `\n${item.text}`
    this.#say('agent_message_chunk', rest)
    this.#streamed = ''
    this.#messageId = randomUUID()
  }

  #plan({ items }: Extract<Item, { type: 'todo_list' }>): void {
    const entries = items.map(({ text: content, completed, status = completed ? 'completed' : 'pending' }) => ({
      ...{ content, priority: 'medium', status },
    }))
    this.#update('plan', { entries })
  }

  #say(kind: string, said: string): void {
    const message = kind === 'agent_message_chunk' ? { messageId: this.#messageId } : {}
    if (said !== '') this.#update(kind, { ...message, content: { type: 'text', text: said } })
  }

  #end(id: string, ok: boolean, output: string): void {
    const call = this.calls.get(id)
    if (call === undefined || !this.#open.delete(id)) return
    // Content replaces what was shown before, so the diffs are sent again.
    const { content } = this.#shown(call)
    const shown = ok && content.length > 0 ? content : [...content, text(output)]
    this.#update('tool_call_update', { toolCallId: id, status: ok ? 'completed' : 'failed', content: shown })
  }

  #shown(call: StartedCall): ReturnType<typeof showToolCall> {
    return showToolCall(viewsOfCall(call, this.#cwd), this.#cwd)
  }
}

/** The input of a call: what a model writes for a freeform tool, or breaks off, is text. */
function inputOf(written: string): unknown {
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}
