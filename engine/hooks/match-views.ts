import type { CallView } from './call-view.ts'
import type { HandlerResult } from './handler-result.ts'
import type { Hook } from './load-hooks.ts'
import { matchesName } from './match-tool-name.ts'

/** Removes duplicates. If a hook is defined more than once, for example in several files, only its first definition is kept. */
export function distinct(hooks: readonly Hook[]): readonly Hook[] {
  const seen = new Map<string, Hook>()
  for (const hook of hooks) {
    const key = JSON.stringify([hook.matcher, hook.handler])
    if (!seen.has(key)) seen.set(key, hook)
  }
  return [...seen.values()]
}

/** Returns those views of a call that a hook runs for. The last view, which is the tool's own, is used only if no other view matches. */
export function viewsFor({ matcher, condition }: Hook, views: readonly CallView[]): readonly CallView[] {
  const covered = views.filter((view) => matchesName(matcher, view.name) && covers(condition, view))
  const own = views.at(-1)
  const others = covered.filter((view) => view !== own)
  return others.length > 0 ? others : covered
}

function covers(condition: Hook['condition'], { action }: CallView): boolean {
  return condition === undefined || (action !== undefined && condition(action))
}

/** Translates the changed input in a hook's answer into the tool's own form. If that is impossible, the result says that the hook failed. */
export function translated(result: HandlerResult, view: CallView): HandlerResult {
  if (result.status !== 'answered') return result
  const specific = result.output.hookSpecificOutput
  const wished = specific?.updatedInput ?? specific?.decision?.updatedInput
  if (wished === undefined) return result
  const replacement = view.replace(wished)
  if ('problem' in replacement)
    return { status: 'failed', reason: `its updatedInput can't be used: ${replacement.problem}` }
  const output = { ...result.output, hookSpecificOutput: { ...specific, updatedInput: replacement.input } }
  return { ...result, output }
}
