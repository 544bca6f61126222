import process from 'node:process'
import { openRun } from '../../app/open-run.ts'
import type { OwnProcess, Run, RunRequest } from '../../app/run-request.ts'
import type { RunSummary } from '../../core/events.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { UserError } from '../../core/user-error.ts'
import { catchInterrupts, holdSignals, whileLanding, type Interruption } from '../interrupts.ts'
import { printJson, printText, tellMessage } from '../print.ts'
import { useProxyFromEnvironment } from '../use-proxy.ts'
import type { ClaudeOptions } from './claude-options.ts'
import type { Client } from './client.ts'
import { requestOfTurn } from './request-of-turn.ts'
import { reviewByClient } from './review-by-client.ts'
import type { SessionState } from './session-state.ts'
import { TurnMessages } from './turn-messages.ts'
import { turnResult, type TurnResult } from './turn-result.ts'

/** A session of a client: its turns are runs, one after the other. */
export class ClaudeSession {
  readonly state: SessionState
  readonly #options: ClaudeOptions
  readonly #client: Client | undefined
  readonly #ownProcess: OwnProcess | undefined
  #run: Run | undefined
  #stopped: number | undefined

  /**
   * @param client the program at the standard streams; undefined if nobody answers
   * @param ownProcess this process, if it may be started again for its run
   */
  constructor(
    state: SessionState,
    options: ClaudeOptions,
    client: Client | undefined,
    ownProcess: OwnProcess | undefined,
  ) {
    this.state = state
    this.#options = options
    this.#client = client
    this.#ownProcess = ownProcess
  }

  /** The exit code of a signal that ended a turn, and with it the session; undefined if none did. */
  get stopped(): number | undefined {
    return this.#stopped
  }

  /** Ends the turn in progress, if there is one. */
  interrupt(reason: 'interrupted' | 'terminated' = 'interrupted'): void {
    this.#run?.interrupt(reason)
  }

  /** Works on a task, and says how that ended when its changes have landed. Returns the exit code. */
  async turn(task: Extract<RunRequest['task'], { type: 'prompt' }>): Promise<number> {
    if (this.#stopped !== undefined) return this.#stopped
    const isStreamed = this.#options.outputFormat === 'stream-json'
    const messages = new TurnMessages(
      this.state,
      isStreamed ? printJson : () => undefined,
      this.#options.includePartialMessages === true,
    )
    const result = await this.#resultOf(task, messages)
    this.#say(result)
    return this.#stopped ?? (result.is_error ? exitCodes.failed : exitCodes.done)
  }

  async #resultOf(task: RunRequest['task'], messages: TurnMessages): Promise<TurnResult> {
    try {
      const summary = await this.#go(task, messages)
      this.state.costUsd += summary.costUsd ?? 0
      messages.end(summary.reason === 'interrupted' || summary.reason === 'terminated')
      return turnResult(summary, messages, this.state, this.#options)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return turnResult(error, messages, this.state, this.#options)
    }
  }

  async #go(task: RunRequest['task'], messages: TurnMessages): Promise<RunSummary> {
    const { state } = this
    const release: (() => void)[] = []
    const stop = (reason: Interruption): void => {
      this.#stopped = reason instanceof Error ? exitCodes.failed : exitCodes[reason]
      run.interrupt(reason)
    }
    const run: Run = openRun({
      ...requestOfTurn(this.#options, state),
      ...reviewingOf(this.#options, state, this.#client, messages),
      ...(this.#ownProcess === undefined ? {} : { ownProcess: this.#ownProcess }),
      task,
      notices: useProxyFromEnvironment(process.env),
      sinks: [messages.sink],
      loaded: () => void release.push(catchInterrupts(stop)),
      landing: () => {
        const held = holdSignals(whileLanding)
        held.addEventListener('abort', () => stop(held.reason as Interruption), { once: true })
      },
    })
    this.#run = run
    state.isRunning = true
    try {
      return await run.result
    } finally {
      await run.close()
      state.isRunning = false
      this.#run = undefined
      for (const free of release) free()
    }
  }

  #say(result: TurnResult): void {
    const { outputFormat = 'text' } = this.#options
    if (outputFormat !== 'text') return printJson(result)
    if (result.result !== undefined && !result.is_error) return printText(result.result)
    tellMessage('agent', result.result ?? (result.errors ?? []).join('\n'))
  }
}

/** Who answers the Guardian in each mode. */
function reviewingOf(
  options: ClaudeOptions,
  state: SessionState,
  client: Client | undefined,
  { callOf }: TurnMessages,
): Pick<RunRequest, 'reviewing'> {
  if (state.mode === 'bypassPermissions') return {}
  if (state.mode === 'auto') return { reviewing: { by: { kind: 'model' } } }
  const asked = options.permissionPromptTool === undefined ? undefined : client
  const review = reviewByClient({ state, options, client: asked, callOf, cwd: process.cwd() })
  return { reviewing: { by: { kind: 'function', review } } }
}
