import type { Feature } from '../feature.ts'
import type { Task } from '../request.ts'
import { agentsFeature } from './agents.ts'
import { givenToolsFeature } from './given-tools.ts'
import { hooksFeature } from './hooks.ts'
import { mcpFeature } from './mcp.ts'
import { memoryFeature } from './memory.ts'
import { outputContractFeature } from './output-contract.ts'
import { planModeFeature } from './plan-mode.ts'
import { reviewFeature } from './review.ts'
import { skillsFeature } from './skills.ts'
import { telemetryFeature } from './telemetry.ts'
import { verifyFeature } from './verify.ts'
import { webSearchFeature } from './web-search.ts'
import { worktreeFeature } from './worktree.ts'

/**
 * The features of a run, in the order in which they are opened; they are closed in reverse order. A feature can use the services of those before it.
 * If two provide a tool of the same name, the first one here wins.
 */
export function featuresOf({ type }: Task, hasView: boolean, isReview: boolean): readonly Feature[] {
  // Calls from a client are judged like a model's; there is no model that would need instructions.
  if (type === 'calls') return [hooksFeature]
  // A review has no features that could write or delegate work; the user's guards stay.
  if (isReview)
    return [telemetryFeature, webSearchFeature, memoryFeature, hooksFeature, reviewFeature, outputContractFeature]
  return [
    // Closed last, so that it sees everything that happens.
    telemetryFeature,
    webSearchFeature,
    givenToolsFeature,
    // A worktree would lie outside the view.
    ...(hasView ? [] : [worktreeFeature]),
    planModeFeature,
    memoryFeature,
    mcpFeature,
    hooksFeature,
    skillsFeature,
    agentsFeature,
    outputContractFeature,
    verifyFeature,
  ]
}
