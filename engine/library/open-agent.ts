import { configure } from '../app/load-run.ts'
import { openRun } from '../app/open-run.ts'
import type { RunRequest } from '../app/run-request.ts'
import type { RunSummary } from '../core/events.ts'
import { UserError } from '../core/user-error.ts'
import type { Agent, AgentOptions, AgentResult, AgentRun, RunOptions } from './agent-options.ts'
import { agentRequest } from './agent-request.ts'
import { EventHistory } from './event-history.ts'
import { readSchema, type FinalOutput } from './output-schema.ts'

/**
 * Opens an agent in a workspace. It reads the same configuration as `agent exec`. It writes to no standard stream, handles no signals and
 * never ends the process, so any number of agents can work in parallel in one process.
 *
 * @throws UserError for mistakes that the caller has to fix: a missing workspace, a wrong setting, an invalid schema
 * @example
 * // Not run: it asks a model.
 * await using agent = await openAgent({ workspace: '.', model: 'gpt-5.5', sandbox: 'workspace-write' })
 * const run = agent.run('make the tests pass')
 * for await (const event of run) if (event.type === 'item.completed') console.log(event.item)
 * const { exitCode, finalMessage, usage, changes } = await run.result
 */
export async function openAgent<Output = unknown>(options: AgentOptions<Output>): Promise<Agent<Output>> {
  const final = options.outputSchema === undefined ? undefined : await readSchema(options.outputSchema)
  const request = agentRequest(options, final?.contract)
  // Each run reads the configuration again. It is read here too, so that mistakes in it are reported before there is a task.
  configure({ ...request, task: { type: 'calls' } })
  return new OpenAgent(request, options.signal, final)
}

class OpenAgent<Output> implements Agent<Output> {
  readonly #request: Omit<RunRequest, 'task'>
  readonly #signal: AbortSignal | undefined
  readonly #final: FinalOutput<Output> | undefined
  readonly #closing = new AbortController()
  #last: Promise<unknown> = Promise.resolve()
  #threadId: string | undefined

  constructor(
    request: Omit<RunRequest, 'task'>,
    signal: AbortSignal | undefined,
    final: FinalOutput<Output> | undefined,
  ) {
    this.#request = request
    this.#signal = signal
    this.#final = final
  }

  get threadId(): string | undefined {
    return this.#threadId
  }

  run(task: string, { images = [], signal }: RunOptions = {}): AgentRun<Output> {
    const history = new EventHistory()
    const interrupting = new AbortController()
    const signals = [this.#signal, signal, this.#closing.signal, interrupting.signal]
    const request: RunRequest = {
      ...this.#request,
      task: { type: 'prompt', prompt: task, images },
      signal: AbortSignal.any(signals.filter((one) => one !== undefined)),
      sinks: [history.sink, ...(this.#request.sinks ?? [])],
    }
    const result = this.#last.then(() => this.#go(request))
    this.#last = result.then(
      () => history.end(),
      (error: unknown) => history.end({ error }),
    )
    return {
      result,
      interrupt: () => interrupting.abort(),
      [Symbol.asyncIterator]: () => history[Symbol.asyncIterator](),
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#last
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Runs one task when the previous one has ended. */
  async #go(request: RunRequest): Promise<AgentResult<Output>> {
    if (this.#closing.signal.aborted)
      throw new UserError('usage', 'The agent is closed. Open a new agent for this task.')
    if (this.#threadId !== undefined && request.ephemeral === true) {
      throw new UserError(
        'usage',
        'An ephemeral agent stores no session that a second run could continue. Open another agent, or leave out ephemeral.',
      )
    }
    const run = openRun({
      ...request,
      ...(this.#threadId === undefined ? {} : { start: { type: 'resume', id: this.#threadId } }),
      sinks: [
        ...(request.sinks ?? []),
        { event: (event) => event.type === 'thread.started' && (this.#threadId = event.thread_id) },
      ],
    })
    try {
      return this.#resultOf(await run.result)
    } finally {
      await run.close()
    }
  }

  #resultOf(summary: RunSummary): AgentResult<Output> {
    const output = summary.exitCode === 0 ? this.#final?.read(summary.finalMessage) : undefined
    return { ...summary, threadId: this.#threadId, output }
  }
}
