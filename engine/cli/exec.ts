import process from 'node:process'
import { findIdleRules } from '../../policies/index.ts'
import { closedTemporaryDirectory, type Sandbox } from '../../sandbox/index.ts'
import { defaultModel } from '../config/defaults.ts'
import { harmless } from '../display/harmless.ts'
import { eventJsonSchema } from '../event-schema.ts'
import { exitCodes } from '../exit-codes.ts'
import type { AgentLoan, SubAgents } from '../agents/sub-agents.ts'
import { readMemory } from '../memory/read-memory.ts'
import { describeOmitted, renderMemory } from '../memory/render-memory.ts'
import type { Model } from '../model.ts'
import { isInside } from '../paths.ts'
import { findHome, findPlaces } from '../places.ts'
import { describeIdleRule, readPolicies } from '../read-policies.ts'
import { environmentContext, instructionsFor } from '../run/instructions.ts'
import { OutputContract } from '../run/output-contract.ts'
import { run } from '../run/run.ts'
import type { RunOptions } from '../run/run-options.ts'
import type { Session } from '../session/session.ts'
import { prepareStart, type Start } from '../session/start.ts'
import { describeSkills } from '../skills/skill-list.ts'
import { agentTools } from '../tools/agent.ts'
import { askUserAt } from '../tools/ask-user.ts'
import { planModeTools } from '../tools/plan-mode.ts'
import { outputLimits } from '../text/output-limits.ts'
import { worktreeTools } from '../tools/worktree.ts'
import type { Worktrees } from '../worktree/worktrees.ts'
import { worktreeHooks } from '../hooks/worktree-hooks.ts'
import { builtInTools } from '../tools/index.ts'
import { createRegistry } from '../tools/registry.ts'
import { saveMemory } from '../tools/save-memory.ts'
import { parseDeferral } from '../tools/search/deferral.ts'
import { chooseModel, chooseReviewerModel, openNamed } from './choose-model.ts'
import { chooseReviewer, describeReviewer } from './choose-reviewer.ts'
import { chooseSinks } from './choose-sinks.ts'
import { confine, openLike, widen } from './confine.ts'
import type { ExecOptions } from './exec-options.ts'
import { finishReviewsFirst } from './finish-reviews.ts'
import { expandPrompt } from './expand-prompt.ts'
import { forbiddenHosts } from './forbidden-hosts.ts'
import { configFiles } from './config-files.ts'
import { guard } from './guard.ts'
import { catchInterrupts } from './interrupts.ts'
import { hiddenFiles } from './hidden-files.ts'
import { approvalModeOf } from './modes.ts'
import { openAgents } from './open-agents.ts'
import { openExtensions, readExtensions } from './open-extensions.ts'
import { openReviewer } from './open-reviewer.ts'
import { describeWorktree, openWorktrees } from './open-worktrees.ts'
import { planReviewer } from './plan-reviewer.ts'
import { openPlanMode } from './open-plan-mode.ts'
import { checkOutputFile, writeOutputFile } from './output-file.ts'
import { compactionLimit, factsOfModels } from './model-facts.ts'
import { readImage } from './read-image.ts'
import { readOutputSchema } from './read-output-schema.ts'
import { readPrompt } from './read-prompt.ts'
import { recoverTree } from './recover-tree.ts'
import { loadRunConfig } from './run-config.ts'
import { showContext } from './show-context.ts'
import type { Progress } from './tell-start.ts'
import { loadUserTools } from './user-tools.ts'
import { useProxyFromEnvironment } from './use-proxy.ts'
import { chooseWebSearch } from './web-search.ts'
import { findRepository, findWorkspace, requireRepository } from './workspace.ts'

/**
 * `agent exec`: checks everything that can be wrong before the first request, then runs.
 *
 * @returns the exit code
 * @throws UserError for what the user has to mend; nothing was run then
 */
export async function runExec(
  argument: string | undefined,
  options: ExecOptions,
  start: Start,
  progress: Progress,
): Promise<number> {
  if (options.printEventSchema === true) return printEventSchema()
  const places = findPlaces(process.env)
  const workspace = findWorkspace(options.cd)
  await finishReviewsFirst()
  const config = loadRunConfig(options, workspace, places)
  const { settings } = config
  if (options.skipGitRepoCheck !== true) requireRepository(workspace)
  if (options.outputLastMessage !== undefined) checkOutputFile(options.outputLastMessage)
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  const memoryPlaces = { user: places.config, ...project }
  const home = findHome(process.env)
  const policies = readPolicies({ places, home, project, config })
  const memory = readMemory(memoryPlaces, hiddenFiles(settings, project.root, policies))
  if (options.showContext === true) {
    return showContext(memory, [settings.model ?? defaultModel, ...(settings.fallback_models ?? [])])
  }
  const typed = await readPrompt(argument, process.stdin, options.timeout)
  const approvalPolicy = approvalModeOf(settings)
  const extensions = await readExtensions({ places, home, project, config })
  const { prompt: named, command } = expandPrompt(typed, extensions.definitions.commands)
  const proxied = useProxyFromEnvironment(process.env)
  const userTools = await loadUserTools(settings.tool_folders ?? [])
  const passing = (): string => closedTemporaryDirectory(sandbox.policy, sandbox.backend)
  const beginning = prepareStart(start, places.state, workspace, options.ephemeral === true ? passing : undefined)
  const model = await chooseModel(options, config, workspace, beginning.earlier?.model)
  const output = await outputContract(options, model)
  const images = (options.image ?? []).map(readImage)
  const choice = chooseReviewer(options, settings, approvalPolicy)
  const attended = choice.kind === 'person'
  const reviewing = choice.kind === 'model' ? [settings.reviewer_model ?? model.name] : []
  const factsOf = factsOfModels(options, settings, model.name, reviewing)
  const openReviewerModel = (): Promise<Model> => chooseReviewerModel(model, settings, workspace)
  const review = await openReviewer(choice, { config: settings, places, openModel: openReviewerModel })
  progress.ready()
  const { signal, dispose } = catchInterrupts()
  const forbids = forbiddenHosts(policies)
  const sandbox = await confine(settings, workspace, options.externallySandboxed === true, forbids)
  const widening = widen(sandbox, settings, forbids)
  let opened: Session | undefined
  let entered: Worktrees | undefined
  let agents: SubAgents | undefined
  let loan: AgentLoan | undefined
  let added: Awaited<ReturnType<typeof openExtensions>> | undefined
  try {
    const search = chooseWebSearch(settings, options.search === true, model, sandbox)
    const session = (opened = beginning.open(workspace, options.threadSource))
    const moves = await openWorktrees({
      home: { workspace, sandbox, widening },
      userHome: home,
      open: openLike(sandbox, settings, forbids),
      hooks: () => added?.worktreeHooks ?? worktreeHooks(undefined),
      rollout: session.rollout,
      resumed: start.type === 'resume' ? beginning.earlier : undefined,
    })
    const worktrees = (entered = moves.worktrees)
    const planMode = openPlanMode(options.plan, beginning.earlier, session.rollout)
    const recovered = sandbox.policy.mode === 'read-only' ? [] : await recoverTree(workspace)
    added = await openExtensions(extensions, {
      workspace,
      sandbox,
      image: settings.sandbox_image,
      session,
      source: beginning.earlier === undefined ? 'startup' : 'resume',
      approvalMode: approvalPolicy,
      planMode,
      now: () => worktrees.now,
      configFiles: configFiles({ places, home, project, definitions: extensions.definitions }),
      forbids,
      home,
      openModel: async (name) => (name === undefined ? model : openNamed(name, settings, workspace)),
      base: () => ({ ...runOptions, ...worktrees.now, opening: describeWorktree(worktrees) }),
      loan: () => loan,
      deferred: settings.tool_search === 'always',
      signal,
    })
    const { beforeReviewer } = added
    const prompt = await added.expandPrompt(named)
    if (command?.allowedTools !== undefined) added.narrow(command.allowedTools, `The command /${command.name}`)
    const { agents: definitions } = extensions.definitions
    const shared = [
      ...builtInTools,
      saveMemory(memoryPlaces),
      ...userTools,
      ...(added.skill === undefined ? [] : [added.skill]),
    ]
    agents = openAgents({
      base: () => ({ ...runOptions, ...worktrees.now, opening: describeWorktree(worktrees) }),
      loan: added.loan,
      tools: { builtIn: shared, mcp: added.tools },
      hooksFor: added.hooksFor,
      model,
      around: added.aroundModel,
      openModel: (name) => openNamed(name, settings, workspace),
      mayChoose: (path) => config.trusted || !isInside(path, project.root),
    })
    // Of two tools with one name the first stands: here a person may be asked, and tasks may be handed to agents.
    const builtIn = [
      ...(review.ask === undefined ? [] : [askUserAt(review.ask)]),
      ...agentTools(agents, definitions),
      ...planModeTools(planMode, agents),
      ...worktreeTools(worktrees, agents),
      ...shared,
      ...(output?.tool === undefined ? [] : [output.tool]),
    ]
    const approvesPlans = planReviewer({ options, choice, review, approvalMode: approvalPolicy, places }, planMode)
    const makeGuardian = guard({
      session,
      rules: policies.rules,
      permissions: { ...policies.permissions, alias: (path) => worktrees.originalOf(path) },
      approvalMode: approvalPolicy,
      sandbox,
      reviewer: (desk) => beforeReviewer(review.reviewer(desk)),
      planning: { mode: planMode, reviewer: (desk) => beforeReviewer(approvesPlans(desk)) },
    })
    const runOptions: RunOptions = {
      model: added.aroundModel(model),
      tools: createRegistry({
        builtIn,
        mcp: added.tools,
        attended,
        deferral: parseDeferral(settings.tool_search, factsOf(model.name).contextWindow) ?? { mode: 'off' },
      }),
      hooks: added.hooks,
      variables: added.variables,
      planMode,
      now: () => worktrees.now,
      opening: describeWorktree(worktrees),
      attended,
      ...(output === undefined ? {} : { output }),
      ...(settings.tool_concurrency === undefined ? {} : { toolConcurrency: settings.tool_concurrency }),
      sandbox,
      widening,
      guard: (desk) => {
        const guardian = makeGuardian(desk)
        loan = { guardian, desk }
        return guardian
      },
      session,
      workspace,
      instructions: instructionsFor([model.name, ...(settings.fallback_models ?? [])]),
      context: [
        environmentContext({
          workspace,
          shell: sandbox.shell,
          sandboxMode: sandbox.policy.mode,
          network: networkOf(sandbox),
          approvalPolicy,
          reviewer: describeReviewer(choice),
        }),
        ...renderMemory(memory),
        ...describeSkills(extensions.definitions.skills),
      ],
      notices: [
        ...findIdleRules(policies.rules, policies.permissions).map(describeIdleRule),
        ...recovered,
        ...moves.notices,
        ...proxied,
        ...search.notices,
        ...describeOmitted(memory),
        ...added.notices(),
      ],
      prompt,
      images,
      ...(beginning.earlier === undefined ? {} : { earlier: beginning.earlier }),
      approvalPolicy,
      ignoredConfig: [...config.ignored, ...policies.ignored, ...extensions.ignored],
      reasoningEffort: settings.model_reasoning_effort,
      maxOutputTokens: settings.model_max_output_tokens,
      sinks: chooseSinks(options),
      ...search.wish,
      outputLimits: outputLimits(settings),
      budget: {
        maxTurns: options.maxTurns,
        maxTokens: options.maxTokens,
        maxCost: options.maxCost,
        timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
      },
      factsOf,
      compactAt: (name) => compactionLimit(factsOf(name), settings),
      ...(options.outputLastMessage === undefined ? {} : { deliver: writeOutputFile(options.outputLastMessage) }),
      failOnDenied: options.failOnDenied === true,
      signal,
    }
    const summary = await run(runOptions)
    progress.ended(summary.exitCode)
    if (options.json !== true && !shownAlready(options)) process.stdout.write(asLines(forStdout(summary.finalMessage)))
    return summary.exitCode
  } finally {
    await agents?.close()
    review.close()
    await added?.close()
    await entered?.close()
    await widening.close()
    await sandbox.close()
    opened?.close()
    dispose()
  }
}

function printEventSchema(): number {
  process.stdout.write(`${JSON.stringify(eventJsonSchema(), undefined, 2)}\n`)
  return exitCodes.done
}

async function outputContract(options: ExecOptions, model: Model): Promise<OutputContract | undefined> {
  if (options.outputSchema === undefined) return undefined
  return new OutputContract(await readOutputSchema(options.outputSchema), model)
}

function networkOf(sandbox: Sandbox): string {
  return sandbox.policy.mode === 'danger-full-access' ? 'full' : sandbox.policy.network.mode
}

/** Whether a person has read the final message on the very terminal that standard output goes to. */
function shownAlready(options: ExecOptions): boolean {
  return process.stdout.isTTY && process.stderr.isTTY && options.quiet !== true
}

/** A file or a program gets the message as the model wrote it; a terminal gets nothing that moves its cursor. */
function forStdout(message: string): string {
  return process.stdout.isTTY ? harmless(message) : message
}

/** A message as it is printed: ended by a line feed where it is not empty. */
function asLines(message: string): string {
  return message === '' || message.endsWith('\n') ? message : `${message}\n`
}
