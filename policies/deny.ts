import type { Verdict } from './action.ts'

/** The verdict that denies an action. */
export function deny(decidedBy: string, reason: string): Verdict & { readonly decision: 'deny' } {
  return { decision: 'deny', sandbox: 'as-requested', decidedBy, reason }
}

/** The message of whatever was thrown. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
