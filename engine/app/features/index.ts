import type { Feature } from '../feature.ts'
import type { RunRequest } from '../run-request.ts'
import { agentsFeature } from './agents-feature.ts'
import { givenToolsFeature } from './given-tools-feature.ts'
import { hooksFeature } from './hooks-feature.ts'
import { mcpFeature } from './mcp-feature.ts'
import { memoryFeature } from './memory-feature.ts'
import { outputContractFeature } from './output-contract-feature.ts'
import { planModeFeature } from './plan-mode-feature.ts'
import { reviewFeature } from './review-feature.ts'
import { skillsFeature } from './skills-feature.ts'
import { telemetryFeature } from './telemetry-feature.ts'
import { verifyFeature } from './verify-feature.ts'
import { webSearchFeature } from './web-search-feature.ts'

/**
 * The features of a run, in the order in which they are opened; they are closed in reverse order. A feature can use the services of features before it. If two
 * features provide a tool of the same name, the tool of the first one is used.
 */
export function featuresOf({ task, client, review }: RunRequest): readonly Feature[] {
  // Calls from a client are judged like a model's calls. There is no model, so the features that instruct one are left out.
  if (task.type === 'calls') return client?.servers === undefined ? [hooksFeature] : [mcpFeature, hooksFeature]
  // A review has no features that could write or delegate work. The user's hooks remain.
  if (review !== undefined)
    return [telemetryFeature, webSearchFeature, memoryFeature, hooksFeature, reviewFeature, outputContractFeature]
  return [
    // Telemetry is opened first and therefore closed last, so that it sees everything that happens.
    telemetryFeature,
    webSearchFeature,
    givenToolsFeature,
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
