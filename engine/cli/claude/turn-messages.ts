import { randomUUID } from 'node:crypto'
import type { Item, RunEvent, Sink, StartedCall } from '../../core/events.ts'
import type { HistoryItem } from '../../core/model.ts'
import { warn } from '../warn.ts'
import { claudeVersion } from './claude-options.ts'
import { MessageIds } from '../../session/message-ids.ts'
import type { SessionState } from './session-state.ts'
import { showCall } from '../show-call.ts'

const noTokens = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
const unended = { stop_reason: null, stop_sequence: null }
const givenUp = 'The call was given up.'

/** Says the events of one turn in Claude Code's messages. */
export class TurnMessages {
  /** The calls that the Guardian denied. */
  readonly denials: { readonly tool_name: string; readonly tool_use_id: string; readonly tool_input: object }[] = []
  /** The number of responses in this turn. */
  turns = 0
  model = ''
  #tokens = 0
  readonly #calls = new Map<string, StartedCall>()
  readonly #open = new Set<string>()
  readonly #state: SessionState
  readonly #send: (message: object) => void
  #cwd = ''
  #response = newResponse()
  #ids: MessageIds | undefined
  /** What has been streamed of the message that the model is writing. */
  #streamed = ''

  constructor(state: SessionState, send: (message: object) => void) {
    this.#state = state
    this.#send = send
  }

  /** The call with an id, as the model made it. */
  callOf(id = ''): StartedCall | undefined {
    return this.#calls.get(id)
  }

  /** From now on, a call has another input than the model gave it. */
  change(call: StartedCall): void {
    this.#calls.set(call.id, call)
  }

  readonly sink: Sink = {
    event: (event) => this.#event(event),
    delta: (text) => this.#delta(text),
    call: (call) => {
      this.#calls.set(call.id, call)
      this.#open.add(call.id)
      const made = { type: 'tool_call', call: { id: call.id, name: call.tool, kind: 'function', input: '' } } as const
      this.#assistant({ type: 'tool_use', id: call.id, ...showCall(call, this.#cwd) }, made)
    },
    outcome: (id, { output, ok, refused }) => {
      const call = this.#calls.get(id)
      if (call === undefined) return
      const { name, input } = showCall(call, this.#cwd)
      if (refused) this.denials.push({ tool_name: name, tool_use_id: id, tool_input: input })
      const bash = { stdout: output, stderr: '', interrupted: false, isImage: false }
      this.#result(id, output, ok, ok ? (name === 'Bash' ? bash : output) : `Error: ${output}`)
    },
    spent: ({ turns, tokens }) => {
      this.turns = turns
      this.#state.contextTokens = tokens - this.#tokens
      this.#tokens = tokens
    },
  }

  /** Ends the messages of the turn. A call that was given up gets a result, because each call must have one. */
  end(interrupted: boolean): void {
    for (const id of [...this.#open]) this.#result(id, givenUp, false, `Error: ${givenUp}`)
    if (interrupted) this.#user({ type: 'text', text: '[Request interrupted by user]' })
  }

  #event(event: RunEvent): void {
    if (event.type === 'thread.started') this.#init(event)
    if (event.type === 'item.completed' && event.item.agent_id === undefined) this.#item(event.item)
    const [, attempt, of] = (event.type === 'error' && /^Reconnecting\.\.\. (\d+)\/(\d+)/.exec(event.message)) || []
    if (attempt === undefined) return
    const retry = { attempt: Number(attempt), max_retries: Number(of), retry_delay_ms: 0, error_status: null }
    this.#tell('system', { subtype: 'api_retry', ...retry })
  }

  #init({ thread_id: id, config: { model, cwd } }: Extract<RunEvent, { type: 'thread.started' }>): void {
    const { opened, mode: permissionMode } = this.#state
    Object.assign(this.#state, { threadId: id })
    this.#ids = new MessageIds(id, opened?.said)
    this.model = model
    this.#cwd = cwd
    const given = { cwd, tools: opened?.tools ?? [], mcp_servers: serverStates(this.#state), model, permissionMode }
    const known = { apiKeySource: 'ANTHROPIC_API_KEY', claude_code_version: claudeVersion, output_style: 'default' }
    this.#tell('system', {
      subtype: 'init',
      ...given,
      ...known,
      slash_commands: [],
      agents: [],
      skills: [],
      plugins: [],
    })
  }

  #item(item: Item): void {
    switch (item.type) {
      case 'agent_message':
        this.#endStream(item.text)
        return this.#assistant(
          { type: 'text', text: item.text },
          { type: 'message', role: 'assistant', text: item.text },
        )
      case 'reasoning':
        return this.#assistant(
          { type: 'thinking', thinking: item.text, signature: '' },
          { type: 'reasoning', text: item.text },
        )
      case 'context_compaction': {
        const compact_metadata = { trigger: 'auto', pre_tokens: item.tokens_before }
        return this.#tell('system', { subtype: 'compact_boundary', compact_metadata })
      }
      case 'error':
        return warn(item.message)
      default:
    }
  }

  #message(content: readonly object[]): object {
    const who = { id: this.#response, type: 'message', role: 'assistant', model: this.model }
    return { ...who, content, ...unended, usage: noTokens }
  }

  #assistant(block: object, item: HistoryItem): void {
    this.#tell('assistant', { message: this.#message([block]), parent_tool_use_id: null, ...this.#idOf(item) })
  }

  #idOf(item: HistoryItem): { readonly uuid?: string | undefined } {
    return { uuid: this.#ids?.next(item) }
  }

  #user(block: object, more: object = {}): void {
    this.#tell('user', { message: { role: 'user', content: [block] }, parent_tool_use_id: null, ...more })
  }

  #result(id: string, content: string, ok: boolean, tool_use_result: unknown): void {
    this.#open.delete(id)
    // What follows a result is another response.
    this.#response = newResponse()
    this.#user({ tool_use_id: id, type: 'tool_result', content, is_error: !ok }, { tool_use_result })
  }

  #delta(text: string): void {
    if (this.#state.options.includePartialMessages !== true || text === '') return
    if (this.#streamed === '') {
      this.#stream({ type: 'message_start', message: this.#message([]) })
      this.#stream({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
    }
    this.#streamed += text
    this.#stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  }

  #endStream(text: string): void {
    if (this.#streamed === '') return
    // The end may have been held back until it was clear that it is no secret.
    if (text.startsWith(this.#streamed)) this.#delta(text.slice(this.#streamed.length))
    this.#streamed = ''
    this.#stream({ type: 'content_block_stop', index: 0 })
    this.#stream({ type: 'message_delta', delta: unended, usage: noTokens })
    this.#stream({ type: 'message_stop' })
  }

  #stream(event: object): void {
    this.#tell('stream_event', { event, parent_tool_use_id: null })
  }

  #tell(type: string, message: object): void {
    this.#send({ type, uuid: randomUUID(), ...message, session_id: this.#state.threadId ?? '' })
  }
}

function newResponse(): string {
  return `msg_${randomUUID()}`
}

/** The states of the MCP servers, as far as they are known. */
export function serverStates({ opened }: SessionState): readonly object[] {
  return (opened?.servers ?? []).map(({ name, problem: error }) =>
    error === undefined ? { name, status: 'connected' } : { name, status: 'failed', error },
  )
}
