import type { Action, Guardian } from '../../policies/index.ts'
import { viewOfAction } from '../hooks/views-of-call.ts'
import { readToolAllowlist, type ToolAllowlist } from './tool-allowlist.ts'

/** Collects the permissions of the skills and commands that the model follows, and applies them to a Guardian. */
export class Preapprovals {
  readonly #lists: { readonly list: ToolAllowlist; readonly source: string }[] = []

  /** Adds permissions. From now on, the calls that they cover need no approval, unless something other than the approval mode requires it. */
  add(allowed: readonly string[], source: string): void {
    this.#lists.push({ list: readToolAllowlist(allowed, source), source })
  }

  /**
   * Wraps a Guardian so that the added permissions allow actions for which the approval mode would ask. They don't override rules, alarms or any
   * other permissions.
   */
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

/**
 * Splits an action into parts that must all be allowed: a patch is split into its files. An escalation or a plan becomes a part that is never
 * allowed.
 */
function partsOf(action: Action): readonly (Action | undefined)[] {
  if (action.type === 'patch') return action.changes.map((change) => ({ ...action, changes: [change] }))
  return action.type === 'plan' || (action.type === 'exec' && action.escalation !== undefined) ? [undefined] : [action]
}

function viewsOf(action: Action | undefined) {
  if (action === undefined) return []
  const view = viewOfAction(action)
  // A permission to edit files also covers the creation of files.
  return view.name === 'Write' ? [view, { ...view, name: 'Edit' }] : [view]
}
