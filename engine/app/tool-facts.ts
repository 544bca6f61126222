import { sharedFamily } from '../models/index.ts'
import type { ToolFacts } from '../tools/tool-set.ts'
import type { InSession } from './stages.ts'

/**
 * The facts that decide which tools are offered to the run's models. In case of doubt, a tool is offered, because the Guardian judges its calls
 * anyway.
 *
 * @param models the names of all models that may answer
 */
export function toolFacts(session: InSession, models: readonly string[]): ToolFacts {
  const { sandbox, policies, approvalMode, codeReview } = session
  const { mode, network } = sandbox.policy
  const isFree = mode === 'danger-full-access'
  const { paths, hosts } = policies.permissions
  const isAllow = ({ decision }: { readonly decision: string }): boolean => decision === 'allow'
  const isAnswered = approvalMode === 'bypass' || canBeAsked(session)
  const isGranted = [...paths, ...hosts, ...policies.rules.networkRules].some(isAllow)
  return {
    family: sharedFamily(models),
    hasNetwork: isFree || network.mode !== 'off',
    canEscalate: !isFree && codeReview === undefined && (isAnswered || isGranted),
    canRemember: isAnswered || paths.some(isAllow),
  }
}

/** Whether the Guardian can ask a reviewer or a hook to approve an action. */
export function canBeAsked({ approvalMode, choice, extensions }: InSession): boolean {
  if (approvalMode === 'never') return false
  return choice.kind !== 'nobody' || extensions.hooks.hooks.has('PermissionRequest')
}
