import { applyPatch } from './apply-patch.ts'
import { execCommand, shell } from './exec-command.ts'
import type { Tool } from './tool.ts'

/** The tools every run has. */
export const builtInTools: readonly Tool[] = [applyPatch, execCommand, shell]
