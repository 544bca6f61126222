import type { Guardian } from '../../policies/index.ts'
import type { Model } from '../core/model.ts'
import type { RunContext } from '../tools/run-context.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { RunSummary } from '../core/events.ts'
import type { RunPart } from '../run/run-part.ts'
import { prepareStart } from '../session/start-session.ts'
import type { AgentDefinition } from '../skills/definition.ts'
import { describeReport, type AgentReport } from './describe-report.ts'
import { forwardTo } from './forward.ts'
import { meteredModel } from './metered-model.ts'

/** What a run shares with the agents to which it delegates work. */
export type RunHandle = {
  readonly guardian: Guardian
  readonly runContext: RunContext
}

/** A task for a sub-agent. */
export type Assignment = {
  /** A short title, for people who watch the run. */
  readonly title: string
  readonly prompt: string
  /** The definition to use; undefined if the sub-agent is to be like the agent that assigns the task. */
  readonly definition: AgentDefinition | undefined
}

/** The run that sub-agents work for. */
export type Parent = {
  /** The directory of the run's session. The sessions of sub-agents are below it. */
  readonly directory: string
  /** Returns the directory in which the run currently works. */
  readonly workspace: () => string
  /** The maximum number of model responses for each sub-agent; undefined: no limit. */
  readonly maxTurns: number | undefined
  readonly signal: AbortSignal
  readonly runHandle: () => RunHandle
  /** Runs a model for a sub-agent. The sub-agent shares everything with the run except what `part` contains. */
  readonly runPart: (part: RunPart) => Promise<RunSummary>
}

/** What the sub-agents need from the run that they work for. */
type SubAgentDependencies = {
  readonly parent: Parent
  /** Returns the tools that a sub-agent may use, and the hooks around its calls. */
  readonly equip: (
    definition: AgentDefinition | undefined,
    id: string,
    model: Model,
  ) => Pick<RunOptions, 'tools' | 'hooks'>
  /** Returns the instructions for every sub-agent whose model has this name. */
  readonly rulesFor: (model: string) => string
  /** Opens the model that a definition names. If it names none, or one that can't be used, opens the run's own model. */
  readonly modelFor: (definition: AgentDefinition | undefined) => Promise<Model>
}

/** The sub-agents of a run. Each sub-agent keeps its conversation, so it can receive further messages. */
export class SubAgents {
  readonly #dependencies: SubAgentDependencies
  readonly #agents = new Map<
    string,
    { readonly definition: AgentDefinition | undefined; threadId: string | undefined }
  >()
  readonly #working = new Map<string, Promise<AgentReport>>()

  readonly #ending = new AbortController()

  constructor(dependencies: SubAgentDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Assigns a task to a new sub-agent. The work has begun when this function returns; `wait` returns the report.
   *
   * @param signal cancels the task when it is aborted. Default: the task continues until it is done or the run ends
   * @returns the id of the sub-agent
   */
  start({ title, prompt, definition }: Assignment, signal?: AbortSignal): string {
    const id = `agent-${this.#agents.size + 1}`
    this.#agents.set(id, { definition, threadId: undefined })
    this.#work(id, title, prompt, signal)
    return id
  }

  /**
   * Sends another message to a sub-agent that has finished its task.
   *
   * @returns why the message can't be sent; undefined if it was sent
   */
  tell(id: string, message: string, signal: AbortSignal): string | undefined {
    if (!this.#agents.has(id))
      return `There is no agent ${id}. Known ids: ${[...this.#agents.keys()].join(', ') || 'none'}.`
    if (this.#working.has(id)) return `${id} is still working: wait for it with wait_agents first.`
    this.#work(id, id, message, signal)
    return undefined
  }

  /**
   * Waits for an agent's report. Resolves to undefined if the agent isn't working on anything. Each report is returned only once, and the agent can then be
   * given another message.
   */
  async wait(id: string): Promise<AgentReport | undefined> {
    const report = await this.#working.get(id)
    this.#working.delete(id)
    return report
  }

  /** The ids of the sub-agents whose reports haven't been read yet. */
  get unread(): readonly string[] {
    return [...this.#working.keys()]
  }

  /** Waits for an agent, and describes its report for the model that delegated the work. */
  async reportOf(id: string): Promise<string> {
    const report = await this.wait(id)
    return report === undefined ? `${id} has no work in progress.` : describeReport(report)
  }

  /** Ends the work of all agents that are still working. */
  async close(): Promise<void> {
    this.#ending.abort('interrupted')
    await Promise.allSettled(this.#working.values())
  }

  #work(id: string, title: string, prompt: string, signal: AbortSignal | undefined): void {
    const until = AbortSignal.any([
      this.#ending.signal,
      this.#dependencies.parent.signal,
      ...(signal === undefined ? [] : [signal]),
    ])
    const working = this.#run(id, title, prompt, until).catch((error: unknown) => ({
      id,
      ok: false,
      text: `${id} failed because of an internal error: ${(error as Error).message}`,
    }))
    this.#working.set(id, working)
  }

  async #run(id: string, title: string, prompt: string, signal: AbortSignal): Promise<AgentReport> {
    const agent = this.#agents.get(id)
    if (agent === undefined) throw new TypeError(`${id} was never created`)
    const { parent, equip, modelFor, rulesFor } = this.#dependencies
    const { guardian, runContext } = parent.runHandle()
    const { definition } = agent
    const stopped = new AbortController()
    const spend: RunContext['spend'] = (usage, name) => {
      runContext.spend(usage, name)
      const exhausted = runContext.exhausted()
      if (exhausted !== undefined) stopped.abort('interrupted')
    }
    const start =
      agent.threadId === undefined ? ({ type: 'new' } as const) : ({ type: 'resume', id: agent.threadId } as const)
    // The sub-agent's session is stored below the session of the run, so that both are kept and removed together.
    const beginning = prepareStart(start, parent.directory, parent.workspace())
    const session = beginning.open(parent.workspace(), title)
    agent.threadId = session.threadId
    try {
      const model = await modelFor(definition)
      const summary = await parent.runPart({
        ...equip(definition, id, model),
        model: meteredModel(runContext.within(model), spend),
        session,
        prompt,
        instructions: [
          rulesFor(model.name),
          ...(definition === undefined ? [] : [`# Your part\n${definition.body}`]),
        ].join('\n\n'),
        ...(beginning.resumedFrom === undefined ? {} : { resumedFrom: beginning.resumedFrom }),
        // Sub-agents use the run's own Guardian, which knows what the user wrote in the run. The prompt of a sub-agent was written by a model, so it doesn't
        // count as the user's approval.
        guard: () => guardian,
        sinks: [forwardTo(runContext, id)],
        budget: { maxTurns: parent.maxTurns },
        failOnDenied: false,
        tally: runContext.tally,
        ...(runContext.changes === undefined ? {} : { changes: runContext.changes }),
        signal: AbortSignal.any([signal, stopped.signal]),
      })
      const text =
        summary.error === undefined ? summary.finalMessage : `${summary.finalMessage}\n${summary.error}`.trim()
      return { id, ok: summary.error === undefined, text }
    } finally {
      session.close()
    }
  }
}
