import type { Reviewer } from '../../policies/index.ts'
import type { Hooks } from './hooks.ts'
import { viewOfAction } from './views-of-call.ts'
import { withReason } from './with-reason.ts'

/**
 * Wraps a reviewer so that `PermissionRequest` hooks are asked first. If they don't decide, the `Notification` hooks run, and the wrapped reviewer is
 * asked. A `PermissionRequest` hook that fails counts as a denial, unless its `onError` is `continue`.
 */
export function withPermissionHooks(reviewer: Reviewer, hooks: Hooks): Reviewer {
  if (!hooks.has('PermissionRequest') && !hooks.has('Notification')) return reviewer
  return {
    name: reviewer.name,
    review: async (request, options) => {
      const outcome = await hooks.fireForCall('PermissionRequest', [viewOfAction(request.action)], {
        reason: request.reason,
      })
      if (outcome.stop !== undefined) {
        return { outcome: 'aborted', reason: `A PermissionRequest hook ended the run: ${outcome.stop}` }
      }
      switch (outcome.decision) {
        case 'allow':
          return {
            outcome: 'allowed',
            reason: withReason('A PermissionRequest hook allowed the action', outcome.reason),
          }
        case 'deny':
          return { outcome: 'denied', reason: outcome.reason ?? 'A PermissionRequest hook refused the action.' }
        case 'ask':
        case undefined:
          await hooks.fire('Notification', { notification_type: 'permission_prompt', message: request.reason })
          return reviewer.review(request, options)
        default:
          return outcome.decision satisfies never
      }
    },
  }
}
