import type { Action, Guardian } from '../../policies/index.ts'
import { viewOfAction } from '../hooks/views-of-call.ts'
import { readToolAllowlist, type ToolAllowlist } from './tool-allowlist.ts'

/** What skills and commands that are followed allow beforehand. */
export class Preapprovals {
  readonly #lists: { readonly list: ToolAllowlist; readonly source: string }[] = []

  /** From now on these calls are not asked about where only the approval mode would ask. */
  add(allowed: readonly string[], source: string): void {
    this.#lists.push({ list: readToolAllowlist(allowed, source), source })
  }

  /** The same Guardian, for which what is allowed here answers what only its mode would ask. No rule, permission or alarm is lifted. */
  wrapGuardian(inner: Guardian): Guardian {
    return {
      ...inner,
      review: (action, options = {}) => {
        const source = options.hook === undefined ? this.#sourceFor(action) : undefined
        if (source === undefined) return inner.review(action, options)
        const hook = { decision: 'allow', reason: `${source} allows it.`, by: 'skill' } as const
        return inner.review(action, { ...options, hook })
      },
    }
  }

  #sourceFor(action: Action): string | undefined {
    return this.#lists.find(({ list }) => partsOf(action).every((part) => list.covers(viewsOf(part))))?.source
  }
}

/** A patch is allowed where each of its files is. What wants more than the sandbox gives is never. */
function partsOf(action: Action): readonly (Action | undefined)[] {
  if (action.type === 'patch') return action.changes.map((change) => ({ ...action, changes: [change] }))
  return action.type === 'plan' || (action.type === 'exec' && action.escalation !== undefined) ? [undefined] : [action]
}

function viewsOf(action: Action | undefined) {
  if (action === undefined) return []
  const view = viewOfAction(action)
  // Who may edit may make new files.
  return view.name === 'Write' ? [view, { ...view, name: 'Edit' }] : [view]
}
