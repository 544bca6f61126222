import { applyPatch } from './apply-patch.ts'
import { execCommand, shell } from './exec-command.ts'
import type { Tool } from './tool.ts'

/** The tools every run has, in the order they are declared: the order is part of the prompt's cached prefix. */
export const builtInTools: readonly Tool[] = [applyPatch, execCommand, shell]
