import process from 'node:process'
import { harmless } from '../display/harmless.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Memory } from '../memory/read-memory.ts'
import { describeOmitted, renderMemory } from '../memory/render-memory.ts'
import { instructionsFor } from '../run/instructions.ts'

/**
 * `agent exec --show-context`: prints what a model would be told before the prompt, and what was left out of it.
 *
 * @param models the names of those that would be asked
 */
export function showContext(memory: Memory, models: readonly string[]): number {
  const texts = [instructionsFor(models), ...renderMemory(memory), ...describeOmitted(memory)]
  process.stdout.write(`${harmless(texts).join('\n\n')}\n`)
  return exitCodes.done
}
