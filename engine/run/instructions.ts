import { sharedFamily, type ModelFamily } from '../models/index.ts'
import { claude } from './prompts/claude.ts'
import type { Part } from './prompts/common.ts'
import { gpt, olderGpt } from './prompts/gpt.ts'
import { other } from './prompts/other.ts'

const byFamily: Readonly<Record<ModelFamily, (part: Part) => string>> = { gpt, openai: olderGpt, claude, other }

/**
 * What models are told about their work here, in the words that suit their maker's.
 *
 * @param models the names of those that may be asked in one run, as users give them: they all get the same text, since a
 *   conversation keeps it from its first request to its last
 * @param part whether they have others to hand work to. Default: they have, as a run itself does
 */
export function instructionsFor(models: readonly string[], part: Part = { handsOn: true }): string {
  return byFamily[sharedFamily(models)](part)
}
