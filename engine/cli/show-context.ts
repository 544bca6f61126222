import { exitCodes } from '../core/exit-codes.ts'
import type { Configured } from '../app/stages.ts'
import { defaultModel } from '../config/defaults.ts'
import { describeOmitted, renderMemory } from '../memory/render-memory.ts'
import { instructionsFor } from '../run/model-instructions.ts'
import { printText } from './print.ts'

/** `agent exec --show-context`: prints the instructions that a model gets before the prompt, and lists the instructions that were left out. */
export function showContext({ memory, settings }: Configured): number {
  const models = [settings.model ?? defaultModel, ...(settings.fallback_models ?? [])]
  const texts = [instructionsFor(models), ...renderMemory(memory), ...describeOmitted(memory)]
  printText(texts.join('\n\n'))
  return exitCodes.done
}
