import process from 'node:process'
import { openRun } from '../../app/open-run.ts'
import type { OwnProcess, Run, RunRequest } from '../../app/run-request.ts'
import type { RunSummary } from '../../core/events.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { UserError } from '../../core/user-error.ts'
import { catchInterrupts, onSignals, whileLanding, type Interruption } from '../interrupts.ts'
import { printJson, printText, tellMessage } from '../print.ts'
import { useProxyFromEnvironment } from '../use-proxy.ts'
import { warn } from '../warn.ts'
import type { Client } from './client.ts'
import { requestOfTurn } from './request-of-turn.ts'
import { reviewByClient } from './review-by-client.ts'
import type { SessionState } from './session-state.ts'
import { TurnMessages } from './turn-messages.ts'
import { turnResult, type TurnResult } from './turn-result.ts'

type Prompt = Extract<RunRequest['task'], { type: 'prompt' }>

/** A session of a client: its turns are runs, one after the other. */
export class ClaudeSession {
  readonly state: SessionState
  readonly #peer: Client | OwnProcess
  #run: Run | undefined
  /** The exit code of a signal that ended a turn, and with it the session; undefined if none did. */
  stopped: number | undefined

  /** @param peer the client at the standard streams; or, without a client, this process, which may be started again for its only run */
  constructor(state: SessionState, peer: Client | OwnProcess) {
    this.state = state
    this.#peer = peer
  }

  /** Ends the turn in progress, if there is one. */
  interrupt(reason: 'interrupted' | 'terminated' = 'interrupted'): void {
    this.#run?.interrupt(reason)
  }

  /** Works on a task, and says how that ended when its changes have landed. Returns the exit code. */
  async turn(task: Prompt): Promise<number> {
    if (this.stopped !== undefined) return this.stopped
    const isStreamed = this.state.options.outputFormat === 'stream-json'
    const said: object[] = []
    const messages = new TurnMessages(this.state, isStreamed ? printJson : (message) => void said.push(message))
    const ended = await this.#go(task, messages).catch((error: unknown) => {
      if (error instanceof UserError) return error
      throw error
    })
    if (!(ended instanceof UserError)) {
      this.state.costUsd += ended.costUsd ?? 0
      messages.end(ended.reason === 'interrupted' || ended.reason === 'terminated')
    }
    const result = turnResult(ended, messages, this.state)
    this.#say(result, said)
    return this.stopped ?? (result.is_error ? exitCodes.failed : exitCodes.done)
  }

  async #go(task: Prompt, messages: TurnMessages): Promise<RunSummary> {
    const { state } = this
    const release: (() => void)[] = []
    const stop = (reason: Interruption): void => {
      this.stopped = exitCodes[reason instanceof Error ? 'failed' : reason]
      run.interrupt(reason)
    }
    const run: Run = openRun({
      ...this.#reviewed(requestOfTurn(state), messages),
      ...('startAnew' in this.#peer ? { ownProcess: this.#peer } : {}),
      task,
      notices: useProxyFromEnvironment(process.env),
      sinks: [messages.sink],
      loaded: () => void release.push(catchInterrupts(stop)),
      landing: () => {
        let isTold = false
        const hold = (reason: Interruption): void => {
          if (!isTold) warn(whileLanding)
          isTold = true
          stop(reason)
        }
        // The session goes on after the landing, and a signal then ends it.
        release.push(onSignals(hold))
      },
    })
    this.#run = run
    state.isRunning = true
    state.hasPlanned = state.mode === 'plan'
    try {
      return await run.result
    } finally {
      await run.close()
      state.isRunning = false
      this.#run = undefined
      for (const free of release) free()
    }
  }

  /** Adds to a request who answers the Guardian in the present mode. */
  #reviewed(request: Omit<RunRequest, 'task'>, messages: TurnMessages): Omit<RunRequest, 'task'> {
    const { mode, options } = this.state
    if (mode === 'bypassPermissions') return request
    if (mode === 'auto') return { ...request, reviewing: { by: { kind: 'model' } } }
    const client = options.permissionPromptTool === undefined || 'startAnew' in this.#peer ? undefined : this.#peer
    const { review, replacement } = reviewByClient(this.state, client, messages, process.cwd())
    const by = { kind: 'function', review, isPatient: true } as const
    return { ...request, reviewing: { by }, client: { ...request.client, replacement } }
  }

  /** @param said the messages of the turn, if they weren't printed as they came */
  #say(result: TurnResult, said: readonly object[]): void {
    const { outputFormat = 'text', verbose } = this.state.options
    if (outputFormat === 'json' && verbose === true) return printJson([...said, result])
    if (outputFormat !== 'text') return printJson(result)
    if (result.result !== undefined && !result.is_error) return printText(result.result)
    tellMessage('agent', result.result ?? (result.errors ?? []).join('\n'))
  }
}
