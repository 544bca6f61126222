import { isDeepStrictEqual } from 'node:util'
import type { Action } from '../../policies/index.ts'
import { isTable } from '../core/is-table.ts'
import type { StartedCall } from '../core/events.ts'
import type { CallView } from '../hooks/call-view.ts'
import { viewOfAction, viewsOf } from '../hooks/views-of-call.ts'

/** A call in the words of Claude Code. */
type ShownCall = Pick<CallView, 'name' | 'input'>

/** Shows a call as one call of Claude Code; a patch of several files, which would be several calls there, as it is. */
export function showCall(call: StartedCall, cwd: string): ShownCall {
  const views = viewsOfCall(call, cwd)
  const { name, input } = views[call.tool === 'apply_patch' && views.length > 2 ? views.length - 1 : 0] ?? noCall
  return { name, input }
}

const noCall: ShownCall = { name: '', input: {} }

/** Shows what needs permission, as all the calls that it would be in Claude Code, each with its contents. */
export function showAction(action: Action, call: StartedCall | undefined, cwd: string): readonly CallView[] {
  const view = viewOfAction(action)
  const views = call === undefined ? [] : viewsOfCall(call, cwd)
  const files = action.type === 'patch' ? views.filter(({ input }) => 'file_path' in input) : []
  if (files.length > 0) return files
  // The action is what will happen, so the call is shown only if it says the same.
  const says = ({ input }: CallView): unknown => (action.type === 'exec' ? input['command'] : input)
  const same = views.find((each) => each.name === view.name && isDeepStrictEqual(says(each), says(view)))
  return ['escalation' in action ? view : (same ?? view)]
}

/** Shows a call as all the calls that it would be in Claude Code, and as it is. */
export function viewsOfCall({ tool, claudeNames, input }: StartedCall, cwd: string): readonly CallView[] {
  return viewsOf({ tool, claudeNames, input: isTable(input) ? input : { input } }, cwd)
}
