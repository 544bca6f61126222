import { sharedFamily, type ModelFamily } from '../models/index.ts'
import { claude } from './prompts/claude.ts'
import type { Part } from './prompts/common.ts'
import { gpt, olderGpt } from './prompts/gpt.ts'
import { other } from './prompts/other.ts'

const byFamily: Readonly<Record<ModelFamily, (part: Part) => string>> = { gpt, openai: olderGpt, claude, other }

/**
 * Returns the instructions for the models of a run, in the style that suits their family.
 *
 * @param models the names of the models that the run may ask, as users write them. All get the same text, because it never changes during a
 *   conversation
 * @param part the role of the models. Default: one with sub-agents to which work can be delegated
 */
export function instructionsFor(models: readonly string[], part: Part = { handsOn: true }): string {
  return byFamily[sharedFamily(models)](part)
}
