import type { Command } from 'commander'
import { exitCodes } from '../core/exit-codes.ts'
import { treeOf } from './completion/command-tree.ts'
import { completionScript } from './completion/completion-scripts.ts'
import { printText } from './print.ts'

/** `agent completion`: prints the script for a shell, made from the commands that the program declares. */
export function printCompletion(shell: Parameters<typeof completionScript>[0], program: Command): number {
  printText(completionScript(shell, treeOf(program)))
  return exitCodes.done
}
