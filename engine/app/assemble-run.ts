import { findIdleRules } from '../../policies/index.ts'
import type { RunHandle } from '../agents/sub-agents.ts'
import type { RunSummary, Sink } from '../core/events.ts'
import type { Model } from '../core/model.ts'
import { describeIdleRule } from '../config/read-policies.ts'
import { ownInstructions } from './own-instructions.ts'
import { instructionsFor } from '../run/model-instructions.ts'
import type { RunHooks } from '../tools/hook-interface.ts'
import { run } from '../run/run.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { RunPart } from '../run/run-part.ts'
import { maskSecrets } from '../core/text/mask-secrets.ts'
import { outputLimits } from '../core/text/output-limits.ts'
import { builtInTools } from './built-in-tools.ts'
import type { Tool } from '../tools/tool.ts'
import { fixedTools } from '../tools/dynamic-tools.ts'
import { createRegistry } from '../tools/registry.ts'
import { toolSet } from '../tools/tool-set.ts'
import { parseDeferral } from '../tools/search/deferral.ts'
import type { Closing } from './closing.ts'
import { describeEnvironment } from './describe-environment.ts'
import { describeImports } from './describe-imports.ts'
import { describeReverted, describeUnlanded } from './describe-reverted.ts'
import type { Contribution, Opened, Services } from './feature.ts'
import { featuresOf } from './features/index.ts'
import { openFeatures } from './open-features.ts'
import { createRunGuardian } from './run-guardian.ts'
import { compactionLimit } from './compaction-limit.ts'
import { openOutside } from './open-outside.ts'
import { eventLog } from '../session/event-log.ts'
import { nameLeft, toolsLeft } from './restrict-tools.ts'
import { reviewTools } from './review-tools.ts'
import type { InSession } from './stages.ts'
import { toolFacts } from './tool-facts.ts'
import { outsideOf } from './outside-effects.ts'
import { runTransaction } from './run-transaction.ts'

/** The options from the caller that opens the run. */
type AssembleOptions = {
  readonly sinks: readonly Sink[]
  /** Called when everything that the run needs has been opened. */
  readonly begun: () => void
  /**
   * Used only for the task `calls`, in which the caller makes the tool calls instead of a model. It receives the function that makes a call, and
   * resolves when no more calls will come.
   */
  readonly serve: NonNullable<RunOptions['serve']>
  readonly began: NonNullable<RunOptions['began']>
}

/** Puts a run together from its features, and runs it to completion. */
export async function assemble(session: InSession, closing: Closing, options: AssembleOptions): Promise<RunSummary> {
  const contributions: Contribution[] = []
  const all = <T>(pick: (one: Contribution) => readonly T[] | undefined): readonly T[] =>
    contributions.flatMap((one) => pick(one) ?? [])
  const services: Services = {}
  const early: string[] = []
  let opened: RunHandle | undefined
  const runHandle = (): RunHandle => {
    if (opened === undefined) throw new TypeError('the run has not begun')
    return opened
  }
  const aroundModel = (model: Model): Model =>
    contributions.reduce((wrapped, { wrapModel }) => wrapModel?.(wrapped) ?? wrapped, model)
  const sharedTools: Opened['sharedTools'] = () => ({
    builtIn: toolsFor(session, [...builtInTools, ...all(({ tools }) => tools)]),
    mcp: only('dynamicTools', contributions) ?? fixedTools([]),
  })
  const runPart = (part: RunPart): Promise<RunSummary> => run({ ...shared, ...part })
  const context: Opened = {
    ...session,
    services,
    closing,
    agents: {
      get unread() {
        return services.agents?.unread ?? []
      },
    },
    runHandle,
    tell: (message) => {
      if (opened === undefined) early.push(message)
      else opened.runContext.open({ type: 'error', message }).complete({})
    },
    outside: openOutside(session, closing),
    runPart,
    sharedTools,
    aroundModel,
  }
  const { request, settings, policies, config, extensions, choice, model, factsOf, beginning } = session
  await openFeatures(featuresOf(request), context, (one) => contributions.push(one))
  let prompt = session.named?.prompt ?? ''
  for (const { expandPrompt } of contributions) prompt = (await expandPrompt?.(prompt)) ?? prompt

  const attended = choice.kind === 'person'
  const models = [model.name, ...(settings.fallback_models ?? [])]
  const { builtIn, mcp } = sharedTools()
  const makeGuardian = createRunGuardian(context, contributions)
  const shared: Omit<RunOptions, keyof RunPart> & Pick<RunOptions, 'instructions' | 'context'> = {
    ...optionsOf(contributions),
    planMode: session.planMode,
    replacement: request.client?.replacement,
    attended,
    ...(settings.tool_concurrency === undefined ? {} : { toolConcurrency: settings.tool_concurrency }),
    ...session.began,
    notShown: session.notShown,
    environment: request.environment,
    instructions: request.client?.instructions ?? ownInstructions(settings) ?? instructionsFor(models),
    context: [
      describeEnvironment(session),
      ...all((one) => one.context),
      ...(settings.developer_instructions === undefined ? [] : [settings.developer_instructions]),
    ],
    approvalPolicy: session.approvalMode,
    looseDenies: session.denied.loose,
    reasoningEffort: settings.model_reasoning_effort,
    verbosity: settings.model_verbosity,
    serviceTier: settings.service_tier,
    maxOutputTokens: settings.model_max_output_tokens,
    outputLimits: outputLimits(settings),
    factsOf,
    compactAt: (name) => compactionLimit(factsOf(name), settings),
  }
  const every = toolSet([...all(({ ownTools }) => ownTools), ...builtIn], toolFacts(session, models))
  const tools = createRegistry({
    builtIn: toolsLeft(every, request.client?.tools),
    mcp,
    attended,
    deferral: parseDeferral(settings.tool_search) ?? { mode: 'off' },
  })
  request.client?.opened?.({
    tools: [...new Set(tools.tools.map((tool) => nameLeft(tool, request.client?.tools) ?? tool.name))],
    servers: (services.servers?.states() ?? []).map(({ server, problem }) => ({ name: server.name, problem })),
    contextWindow: factsOf(model.name).contextWindow,
    longestOutput: factsOf(model.name).longestOutput,
    said: beginning.resumedFrom?.original ?? [],
  })
  return runPart({
    model: aroundModel(model),
    tools,
    ...hooksOf(contributions),
    connections: session.connections,
    guard: (runContext) => {
      const guardian = makeGuardian(runContext)
      opened = { guardian, runContext }
      options.begun()
      return guardian
    },
    began: options.began,
    session: session.session,
    ...(session.transaction === undefined
      ? {}
      : {
          transaction: runTransaction(
            session.transaction,
            session.sandbox,
            outsideOf(session.sandbox, settings, extensions, session.effects),
            request.landing,
          ),
        }),
    prompt,
    ...(services.agents === undefined ? {} : { delegates: services.agents }),
    firstCalls: session.named?.looked ?? [],
    images: request.task.type === 'prompt' ? (request.task.images ?? []) : [],
    notices: [
      ...describeImports(config),
      ...findIdleRules(policies.rules, policies.permissions).map(describeIdleRule),
      ...session.recovered,
      ...(session.transaction?.resumed === false
        ? [...describeReverted(session.session.directory), ...describeUnlanded(beginning)]
        : []),
      ...(request.notices ?? []),
      ...all(({ notices }) => notices),
      ...early,
    ],
    ignoredConfig: [...config.ignored, ...policies.ignored, ...extensions.ignored],
    ...(session.output === undefined ? {} : { output: session.output }),
    ...(session.claims === undefined ? {} : { claims: session.claims }),
    ...(beginning.resumedFrom === undefined ? {} : { resumedFrom: beginning.resumedFrom }),
    ...(session.verify === undefined ? {} : { verify: session.verify }),
    ...(session.codeReview === undefined ? {} : { review: session.codeReview.ending }),
    ...(session.deliver === undefined ? {} : { deliver: session.deliver }),
    ...(request.report === undefined ? {} : { report: request.report }),
    ...(request.task.type === 'calls' ? { serve: options.serve } : {}),
    budget: request.budget ?? {},
    failOnDenied: request.failOnDenied === true,
    failOnNoChange: request.failOnNoChange === true,
    sinks: [
      ...(session.effects === undefined ? [] : [session.effects.sink(extensions.hooks)]),
      ...options.sinks,
      eventLog(session.session.directory, { prompt, context: shared.context }, maskSecrets(request.environment)),
      ...all(({ sinks }) => sinks),
    ],
    signal: session.signal,
  })
}

function toolsFor({ codeReview }: InSession, tools: readonly Tool[]): readonly Tool[] {
  return codeReview === undefined ? tools : reviewTools(tools)
}

function optionsOf(contributions: readonly Contribution[]): NonNullable<Contribution['options']> {
  return contributions.reduce<NonNullable<Contribution['options']>>(
    (together, { options }) => ({ ...together, ...options, ...bothVariables(together, options) }),
    {},
  )
}

/** Combines the environment variables that two features, such as telemetry and hooks, set for commands. Empty unless both features set variables. */
function bothVariables(
  one: NonNullable<Contribution['options']>,
  other: Contribution['options'],
): Pick<NonNullable<Contribution['options']>, 'variables'> {
  const first = one.variables
  const second = other?.variables
  return first === undefined || second === undefined ? {} : { variables: () => ({ ...first(), ...second() }) }
}

function hooksOf(contributions: readonly Contribution[]): { readonly hooks?: RunHooks } {
  const hooks = only('hooks', contributions)
  return hooks === undefined ? {} : { hooks }
}

/**
 * Returns what a feature contributes under `name`, which only one feature may do; undefined if none does. If two features did, one contribution would silently
 * replace the other, and the user's hooks, which may guard the run, could be lost.
 *
 * @throws Error if two features contribute something under this name
 */
function only<Name extends 'hooks' | 'dynamicTools'>(
  name: Name,
  contributions: readonly Contribution[],
): Contribution[Name] | undefined {
  const brought = contributions.filter((one) => one[name] !== undefined)
  if (brought.length > 1) throw new Error(`${brought.length} features provide ${name}, but a run has only one`)
  return brought[0]?.[name]
}
