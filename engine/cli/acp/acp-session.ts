import process from 'node:process'
import { openRun } from '../../app/open-run.ts'
import type { RunRequest } from '../../app/run-request.ts'
import type { RunSummary } from '../../core/events.ts'
import type { EndReason } from '../../core/exit-codes.ts'
import type { McpServer } from '../../mcp/server.ts'
import type { ReadRollout } from '../../session/rollout.ts'
import { telling } from '../print.ts'
import { useProxyFromEnvironment } from '../use-proxy.ts'
import { warn } from '../warn.ts'
import { askPermission } from './ask-permission.ts'
import { RpcError, type Peer } from './peer.ts'
import { choose, modes, optionsOf, type Choices } from './session-options.ts'
import { TurnUpdates } from './turn-updates.ts'

/** What a session is opened with. `source`: the name of the client. */
type Place = Readonly<{ id: string; workspace: string; addDirs: string[]; servers: McpServer[]; source: string }>

const stops: Readonly<Partial<Record<EndReason, string>>> = {
  ...{ done: 'end_turn', budget: 'max_turn_requests', interrupted: 'cancelled', terminated: 'cancelled' },
}

/** A session of a client: its prompts are runs, one after the other, each of which lands before it is answered. */
export class AcpSession {
  readonly choices: Choices = { mode: 'ask', model: '', effort: 'default' }
  /** The permissions that the client has given for the session. */
  readonly always = new Set<string>()
  /** Whether the session has been stored. */
  isStored = false
  readonly place: Place
  readonly #peer: Peer
  #hasPlanned = false
  #model = ''
  #working: { readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined

  constructor(place: Place, peer: Peer) {
    this.place = place
    this.#peer = peer
  }

  /** Sets the model that the configuration or the session's earlier runs name. */
  set model(name: string) {
    this.choices.model = this.#model = name
  }

  /** The options that the client can change. */
  get options(): ReturnType<typeof optionsOf> {
    return optionsOf(this.choices, this.#model)
  }

  readonly update = (sessionUpdate: string, update: object): void => {
    this.#peer.notify('session/update', { sessionId: this.place.id, update: { sessionUpdate, ...update } })
  }

  /** Asks the client for permission. */
  ask(toolCall: object, options: readonly object[], signal: AbortSignal): Promise<unknown> {
    return this.#peer.ask('session/request_permission', { sessionId: this.place.id, toolCall, options }, signal)
  }

  /** Makes a choice, and tells the client of a new mode. Throws `RpcError` if there is no such choice. */
  choose(id: string, value: string): void {
    if (!choose(this.choices, id, value, this.#model)) throw new RpcError('invalidParams', `${id} can't be ${value}.`)
    if (id !== 'mode') return
    this.update('current_mode_update', { currentModeId: value })
    this.update('config_option_update', { configOptions: this.options.configOptions })
  }

  /** Shows what was said and done before, as it was stored. */
  replay(earlier: ReadRollout): void {
    new TurnUpdates(this.place.workspace, this.update).replay(earlier.original)
  }

  /** Ends the prompt in progress, if there is one, and resolves when it has ended. */
  async cancel(): Promise<void> {
    this.#working?.stop.abort()
    await this.#working?.ended
  }

  /** Throws `RpcError` while a prompt is in progress. */
  requireIdle(): void {
    if (this.#working !== undefined) throw new RpcError('invalidRequest', 'A prompt of this session is in progress.')
  }

  /** Works on a prompt, and says how that ended when its changes have landed. */
  async prompt(task: RunRequest['task']): Promise<object> {
    this.requireIdle()
    const stop = new AbortController()
    const work = this.#go(task, stop.signal)
    this.#working = { stop, ended: work.catch(() => undefined) }
    try {
      const { reason, error = '' } = await work
      const stopReason = stops[reason]
      if (stopReason === undefined) throw new RpcError('internal', error, { data: { reason } })
      return { stopReason }
    } catch (error) {
      if (stop.signal.aborted) return { stopReason: 'cancelled' }
      throw error
    } finally {
      this.#working = undefined
    }
  }

  /** The request for a run of this session, without its task. */
  get request(): Omit<RunRequest, 'task'> {
    const { id, workspace, addDirs, source } = this.place
    const { mode, model, effort } = this.choices
    const settings = [
      { approval_policy: modes[mode][2] },
      ...(model === this.#model ? [] : [{ model }]),
      ...(effort === 'default' ? [] : [{ model_reasoning_effort: effort }]),
    ]
    return {
      ...{ workspace, environment: process.env, outsideRepository: true, source, warn, errors: telling() },
      settings: { addDirs, flags: settings.map((each) => ({ flag: 'the client', settings: each })) },
      start: this.isStored ? { type: 'resume', id, here: true } : { type: 'new', as: id },
      // A session that has planned goes on without a plan once its mode is another.
      ...(mode === 'plan' ? { plan: true } : this.#hasPlanned ? { plan: false } : {}),
    }
  }

  async #go(task: RunRequest['task'], signal: AbortSignal): Promise<RunSummary> {
    const updates = new TurnUpdates(this.place.workspace, this.update)
    const run = openRun({
      ...this.request,
      ...{ task, signal, notices: useProxyFromEnvironment(process.env) },
      reviewing: { by: { kind: 'function', review: askPermission(this, updates), isPatient: true } },
      client: { servers: { servers: this.place.servers, faults: [] } },
      sinks: [updates.sink, { event: (event) => event.type === 'thread.started' && (this.isStored = true) }],
    })
    this.#hasPlanned ||= this.choices.mode === 'plan'
    try {
      return await run.result
    } finally {
      await run.close()
      updates.end()
    }
  }
}
