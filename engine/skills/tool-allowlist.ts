import { loadPermissions, RuleError, type Guardian, type PermissionSet } from '../../policies/index.ts'
import { assessor } from '../core/assessor.ts'
import type { CallView } from '../hooks/call-view.ts'
import { namesOf } from '../hooks/views-of-call.ts'
import { UserError } from '../core/user-error.ts'
import type { Tool } from '../tools/tool.ts'

/** A parsed `allowed-tools` list. */
export type ToolAllowlist = {
  /** The entries, as written. */
  readonly allowed: readonly string[]
  readonly covers: (views: readonly CallView[]) => boolean
}

/**
 * Parses an `allowed-tools` list. An entry is the name of a tool (ours or Claude Code's), the beginning of such names followed by `*`, or a
 * permission such as `Bash(git add:*)`.
 *
 * @param source the file that contains the list, for error messages
 * @throws UserError `usage` for an entry that is none of these
 */
export function readToolAllowlist(allowed: readonly string[], source: string): ToolAllowlist {
  for (const text of allowed) {
    if (/^[\w*-]+(?:\(|$)/.test(text)) continue
    throw new UserError('usage', `${source}: allowed-tools: '${text}' is not a tool; expected Tool or Tool(what)`)
  }
  const names = allowed.filter((text) => !text.includes('('))
  // All entries are checked together, because one command line may contain several commands, each allowed by a different entry.
  const permissions = readPermissions(
    allowed.filter((text) => text.includes('(')),
    source,
  )
  // In the mode `untrusted`, everything that no permission allows needs approval, except what only reads. `permitted` recognizes that exception by
  // the verdict's stage.
  const assess = assessor({ approvalMode: 'untrusted', permissions })
  return {
    allowed,
    covers: (views) => views.some((view) => names.some((name) => matches(name, view.name)) || permitted(assess, view)),
  }
}

function readPermissions(allow: readonly string[], source: string): PermissionSet {
  try {
    return loadPermissions([{ path: source, layer: 'user', text: JSON.stringify({ permissions: { allow } }) }])
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    const { message, expected } = error
    throw new UserError('usage', `${source}: allowed-tools: ${message}; expected ${expected}`, { cause: error })
  }
}

/** Whether the list could allow any call to a tool. If not, the tool need not be offered to the model. */
export function mayOffer(tool: Pick<Tool, 'name' | 'claudeNames'>, allowed: readonly string[]): boolean {
  return namesOf(tool).some((name) => allowed.some((text) => matches(text.split('(')[0] ?? '', name)))
}

function matches(pattern: string, name: string): boolean {
  return pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))
}

/** Whether permissions or rules allow everything that the call does. */
function permitted(assess: Guardian['assess'], { action }: CallView): boolean {
  if (action === undefined) return false
  const { decision, stage } = assess(action)
  return decision === 'allow' && (stage === 'permissions' || stage === 'rules')
}
