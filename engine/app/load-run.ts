import { defaultModel } from '../config/defaults.ts'
import { rootsOf } from '../config/configured-policy.ts'
import { noMemory, readMemory } from '../memory/read-memory.ts'
import { findHome, findAppPaths, stateFor } from '../core/app-paths.ts'
import { readPolicies } from '../config/read-policies.ts'
import type { ClaimsCheck } from '../run/claims.ts'
import { OutputContract } from '../run/output-contract.ts'
import { prepareStart, type Beginning } from '../session/start-session.ts'
import { chooseReviewer } from './choose-reviewer.ts'
import { nameOfModel, openLazily, openNamed, recorded, type ModelSources } from './choose-model.ts'
import type { Closing } from './closing.ts'
import { enterOverlay } from './enter-overlay.ts'
import { UserError } from '../core/user-error.ts'
import { expandPrompt } from './expand-prompt.ts'
import { hiddenFiles } from './hidden-files.ts'
import { loadSettings } from './load-settings.ts'
import { factsOfModels } from './compaction-limit.ts'
import { approvalModeOf } from './modes.ts'
import { openReviewer } from './open-reviewer.ts'
import { readExtensions } from './read-extensions.ts'
import type { ReviewRequest } from '../review/review-request.ts'
import type { Review } from '../review/review.ts'
import type { RunRequest } from './run-request.ts'
import type { Configured, Loaded } from './stages.ts'
import { instructionFiles } from './own-instructions.ts'
import { loadUserTools } from './user-tools.ts'
import { chooseVerification, withVerification } from './choose-verification.ts'
import { findRepository, requireRepository } from './workspace.ts'

/**
 * Reads the configuration of the machine, the user and the repository.
 *
 * @throws UserError for problems that the user has to fix
 */
export function configure(request: RunRequest): Configured {
  const { workspace, environment } = request
  const places = findAppPaths(environment)
  const config = loadSettings(withVerification(request), workspace, places)
  const { settings } = config
  if (request.outsideRepository !== true) requireRepository(workspace)
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  const home = findHome(environment)
  const memoryPlaces = { user: places.config, codex: places.codex, home, ...project, ...instructionFiles(settings) }
  const policies = readPolicies({ places, home, project, config })
  const memory = config.isolated ? noMemory : readMemory(memoryPlaces, hiddenFiles(settings, project.root, policies))
  const approvalMode = approvalModeOf(settings)
  return { request, places, home, project, workspace, config, settings, policies, memoryPlaces, memory, approvalMode }
}

/**
 * Checks everything that can be wrong with a request for a run, before a model is asked.
 *
 * @param closing receives cleanup functions for the few resources that are opened here
 * @throws UserError for problems that the user has to fix
 */
export async function loadRun(request: RunRequest, closing: Closing): Promise<Loaded> {
  const configured = configure(request)
  const { places, workspace, config, settings, approvalMode } = configured
  const { task, environment, from = workspace } = request
  const beginning = prepareStart(
    request.start ?? { type: 'new' },
    stateFor(rootsOf(settings, workspace), places.state),
    workspace,
    request.ownProcess?.startedFor,
  )
  // The overlay is entered first, because this may restart the process. Until then, nothing may be opened, and standard input must not be read.
  const noOverlay = await enterOverlay(configured, beginning, closing)
  const deliver = request.deliver?.()
  const typed = task.type === 'calls' ? undefined : await wordsOf(task.prompt)
  // A review needs no prompt: the prompt would only tell it what to focus on.
  if (typed === '' && request.review === undefined) requireOpenStep(beginning)
  const extensions = await readExtensions({ ...configured, environment, client: request.client })
  const named = typed === undefined ? undefined : expandPrompt(typed, extensions.definitions, workspace)
  const userTools = await loadUserTools(settings.tool_folders ?? [])
  const sources: ModelSources = {
    ...{ settings, workspace, from },
    environment: { ...config.modelVariables, ...environment },
    gate: request.gate,
  }
  const model = await openModel(configured, sources, beginning.resumedFrom?.model)
  const codeReview = request.review === undefined ? undefined : await openReview(request.review)
  const claims = request.claims === undefined ? undefined : await openClaims(request.claims.fail)
  const wanted = codeReview?.output ?? claims?.output ?? request.output
  const output = wanted === undefined ? undefined : new OutputContract(wanted, model)
  const person = request.reviewing?.person
  const choice = chooseReviewer(
    { by: request.reviewing?.by, isPersonThere: person !== undefined },
    settings,
    approvalMode,
  )
  const reviewing = choice.kind === 'model' ? [settings.reviewer_model ?? model.name] : []
  const factsOf = factsOfModels(request.budget?.maxCost, settings, model.name, reviewing)
  const review = await openReviewer(choice, {
    config: settings,
    places,
    roots: rootsOf(settings, workspace),
    person: person?.(),
    errors: request.errors,
    environment,
    openModel: () => openNamed(settings.reviewer_model ?? model.name, sources),
  })
  closing.add(review.close)
  return {
    ...configured,
    named,
    deliver,
    extensions,
    userTools,
    beginning,
    noOverlay,
    model,
    openNamed: (name) => openNamed(name, sources),
    output,
    codeReview,
    claims,
    // A review makes no changes that could be verified.
    verify: codeReview === undefined ? chooseVerification(request, settings, beginning.resumedFrom) : undefined,
    choice,
    review,
    factsOf,
  }
}

/** Opens a review. The code for reviews is loaded only if there is one. */
async function openReview(request: ReviewRequest): Promise<Review> {
  const { Review } = await import('../review/review.ts')
  return new Review(request)
}

/** Prepares the comparison of the model's claims with the record. Its code is loaded only if the user asked for that. */
async function openClaims(fail: boolean): Promise<ClaimsCheck> {
  const { checkClaims } = await import('../run/claims.ts')
  return checkClaims(fail)
}

/** Checks that a run can begin without a prompt. @throws UserError `usage` if the resumed session contains nothing for the model to answer */
function requireOpenStep({ resumedFrom }: Beginning): void {
  if (resumedFrom?.original.at(-1)?.type === 'tool_result') return
  throw new UserError(
    'usage',
    'The model has nothing to answer at that step, so the session needs a new task: give it as the last argument.',
  )
}

function wordsOf(prompt: string | (() => Promise<string>)): string | Promise<string> {
  return typeof prompt === 'string' ? prompt : prompt()
}

async function openModel(
  { request, config, workspace }: Configured,
  sources: ModelSources,
  before: string | undefined,
) {
  if (request.model !== undefined) return request.model
  // If the caller makes the calls, only a hook or a reviewer can need the model, so it is opened when it is first used.
  if (request.task.type === 'calls') return openLazily(config.settings.model ?? defaultModel, sources)
  const model = await openNamed(nameOfModel(config, request.settings?.profile !== undefined, before), sources)
  return request.record === undefined ? model : recorded(model, request.record, workspace)
}
