import type { Sandbox } from '../../sandbox/index.ts'
import type { Escalation } from '../escalation/escalation.ts'
import { readOnlySandbox } from '../tools/plan-mode/read-only-sandbox.ts'
import type { PlanMode } from '../tools/plan-mode/plan-mode-state.ts'
import type { ToolPlace } from '../tools/tool.ts'

/** The directory in which the run currently works, and what its commands may access there. */
export type ExecutionContext = ToolPlace & {
  /** Opens sandboxes with additional permissions. If undefined, no such permissions can be granted. */
  readonly escalation?: Escalation
}

/** Returns a function that gives the context for calls. In plan mode, its sandbox is that of `readOnlySandbox`, and nothing can be granted. */
export function whilePlanning(given: ExecutionContext, mode: PlanMode | undefined): () => ExecutionContext {
  let narrowed: Sandbox | undefined
  return () => {
    const { workspace, sandbox, escalation } = given
    if (mode?.requestedBy === undefined) {
      return escalation === undefined ? { workspace, sandbox } : { workspace, sandbox, escalation }
    }
    return { workspace, sandbox: (narrowed ??= readOnlySandbox(sandbox)) }
  }
}
