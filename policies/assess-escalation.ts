import type { Action, Grant } from './action.ts'
import type { Policy } from './assessment.ts'
import { findSensitive } from './commands/sensitive-paths.ts'
import { describeGrant, isCovered, isTooWide } from './grants.ts'
import type { Opinion } from './opinion.ts'
import { permitHost, permitPath } from './permissions/permit.ts'
import { networkVerbs, type RuleOrigin } from './rules/rule.ts'

type Escalation = NonNullable<Extract<Action, { type: 'exec' }>['escalation']>

/**
 * Judges a command's request for more access than the sandbox allows, grant by grant. Except in `bypass` mode, only a decision by the user or the
 * machine's owner allows a grant: a rule or permission that they wrote, or an approval that was given earlier in the run. A grant that would undo the
 * sandbox is always denied, and so is one that would let a command plant files that control other programs.
 */
export function assessEscalation(escalation: Escalation, policy: Policy): readonly Opinion[] {
  const { justification, grants = [] } = escalation
  if (grants.length > 0) return grants.flatMap((grant) => assessGrant(grant, justification, policy))
  const decision = policy.mode === 'bypass' ? 'allow' : 'ask'
  const reason = `The command asks for more than the sandbox allows: ${asSentence(justification)}`
  return [{ decision, stage: 'escalation', reason }]
}

function assessGrant(grant: Grant, justification: string, policy: Policy): readonly Opinion[] {
  const what = describeGrant(grant)
  const deny = (why: string): readonly Opinion[] => [
    { decision: 'deny', stage: 'escalation', reason: `${why}: ${what}.` },
  ]
  if (isTooWide(grant)) return deny('A grant must name a single file, folder or host, but this one is too wide')
  if (grant.kind === 'write' && policy.protects?.(grant.path, policy.writableRoots) !== undefined)
    return deny('Write access to files that control other programs is never granted')
  const said = opinionsOn(grant, policy)
  const restricting = said.filter(({ decision }) => decision !== 'allow')
  if (restricting.length > 0) return restricting
  const allowing = said[0]
  if (allowing !== undefined) return [allowing]
  const granted = policy.standing.some((one) => isCovered(grant, one))
  const decision = granted || policy.mode === 'bypass' ? 'allow' : 'ask'
  const secret =
    grant.kind === 'read' ? (findSensitive(grant.path) ?? policy.conceals?.([grant.path])[0]?.place) : undefined
  const note = secret === undefined ? '' : ` Credentials are stored there (${secret}).`
  const reason = granted
    ? `This was approved for the rest of the run: ${what}.`
    : `The command asks for ${what}: ${asSentence(justification)}${note}`
  return [{ decision, stage: 'escalation', reason }]
}

/** What the rules and permissions say about a grant. A rule or permission that allows it counts only if the user or the machine's owner wrote it. */
function opinionsOn(grant: Grant, { rules, permissions }: Policy): readonly Opinion[] {
  const own = <T extends { readonly decision: string; readonly origin: RuleOrigin }>(
    items: readonly T[],
  ): readonly T[] =>
    items.filter(
      ({ decision, origin }) => decision !== 'allow' || origin.layer === 'user' || origin.layer === 'managed',
    )
  switch (grant.kind) {
    case 'read':
    case 'write': {
      const access = grant.kind === 'read' ? 'read' : 'edit'
      return permitPath(access, grant.path, '/', { ...permissions, paths: own(permissions.paths) })
    }
    case 'network': {
      const host = grant.host.toLowerCase().replace(/\.$/, '')
      const byRules = own(
        rules.networkRules
          .filter((rule) => rule.host === host)
          .filter((rule) => rule.decision !== 'allow' || rule.port === undefined || rule.port === grant.port),
      ).map((rule): Opinion => ({
        decision: rule.decision === 'prompt' ? 'ask' : rule.decision,
        stage: 'rules',
        reason: rule.justification ?? `A rule ${networkVerbs[rule.decision]} connections to ${host}.`,
        rule: `${rule.origin.path}:${rule.origin.line} network_rule ${host}`,
      }))
      return [...byRules, ...permitHost(host, { ...permissions, hosts: own(permissions.hosts) })]
    }
    case 'limit':
      return []
    default:
      return grant satisfies never
  }
}

/** Returns the text with punctuation at its end, because another sentence may follow. */
function asSentence(text: string): string {
  return /[.!?…]\s*$/.test(text) ? text.trimEnd() : `${text}.`
}
