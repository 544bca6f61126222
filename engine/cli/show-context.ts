import process from 'node:process'
import { exitCodes } from '../exit-codes.ts'
import type { Memory } from '../memory/read-memory.ts'
import { renderMemory } from '../memory/render-memory.ts'
import { instructions } from '../run/instructions.ts'

/** `agent exec --show-context`: prints what a model would be told before the prompt, and what was left out of it. */
export function showContext(memory: Memory): number {
  process.stdout.write(`${[instructions, ...renderMemory(memory)].join('\n\n')}\n`)
  for (const { path, reason } of memory.omitted) process.stdout.write(`\nleft out: ${path}: ${reason}\n`)
  return exitCodes.done
}
