import type { Action } from './action.ts'
import { answerForInstructions, answerForTool, answerForWrite } from './approval-mode.ts'
import { assessExec } from './assess-exec.ts'
import { assessSearch } from './assess-search.ts'
import type { Assessment, Policy } from './assessment.ts'
import { findSensitive } from './commands/sensitive-paths.ts'
import { strictest, type Opinion } from './opinion.ts'
import { isInside } from './is-inside.ts'
import { permitHost, permitPath, permitTool } from './permissions/permit.ts'
import type { PermissionSet } from './permissions/permission.ts'
import { networkVerbs } from './rules/rule.ts'

/** Judges an action. The answer depends only on the action, the policy, and what the policy's functions, such as `conceals`, say about paths. */
export function assess(action: Action, policy: Policy): Assessment {
  switch (action.type) {
    case 'exec':
      return assessExec(action, policy)
    case 'patch':
      return { ...assessPatch(action, policy), analysis: undefined }
    case 'read':
      return { ...assessRead(action, policy), analysis: undefined }
    case 'network':
      return { ...assessNetwork(action, policy), analysis: undefined }
    case 'search':
      return { ...assessSearch(action, policy), analysis: undefined }
    case 'mcp':
      return { ...assessTool(action, policy), analysis: undefined }
    case 'plan':
      return {
        decision: 'ask',
        stage: 'plan-mode',
        reason: 'Plan mode ends when the plan is approved.',
        analysis: undefined,
      }
    case 'land':
      return {
        decision: policy.mode === 'bypass' ? 'allow' : 'ask',
        stage: 'losses',
        reason: action.losses.join(' '),
        analysis: undefined,
      }
    default:
      return action satisfies never
  }
}

type Of<T extends Action['type']> = Extract<Action, { type: T }>

function assessPatch(action: Of<'patch'>, policy: Policy): Opinion {
  if (action.instructs === true) return assessInstructions(action, policy)
  const roots = [action.root, ...policy.writableRoots]
  const paths = action.changes.flatMap(({ path, movedFrom }) => (movedFrom === undefined ? [path] : [path, movedFrom]))
  const opinions = paths.map((path): Opinion => {
    const root = roots.find((one) => isInside(path, one))
    const guarded = root === undefined ? undefined : policy.protects?.(path, roots)
    const decision = answerForWrite(policy.mode, action.sandbox, root !== undefined && guarded === undefined)
    if (guarded !== undefined) {
      return {
        decision,
        stage: 'protected-path',
        reason: `${path} is protected, because ${guarded} can control other programs.`,
      }
    }
    if (root === undefined)
      return { decision, stage: 'workspace', reason: `${path} is outside the workspace ${action.root}.` }
    if (action.sandbox === 'read-only')
      return { decision, stage: 'sandbox', reason: `The sandbox is read-only, but the patch changes ${path}.` }
    const permitted = permitPath('edit', path, action.root, policy.permissions)
    return (
      strictest(permitted) ?? { decision, stage: 'mode', reason: `The patch changes ${path}, within the workspace.` }
    )
  })
  const denied = paths.flatMap((path) => permitPath('edit', path, action.root, policy.permissions)).filter(restricts)
  return (
    strictest([...denied, ...opinions]) ?? { decision: 'allow', stage: 'mode', reason: 'The patch changes nothing.' }
  )
}

/**
 * Judges a change to a file with instructions for agents. In every mode except `bypass`, it requires approval unless a permission covers the file.
 */
function assessInstructions(action: Of<'patch'>, policy: Policy): Opinion {
  const { root } = action
  const opinions = action.changes.map(({ path }): Opinion => {
    const permissions = isInside(path, root) ? policy.permissions : ownPermissions(policy.permissions)
    const decision = answerForInstructions(policy.mode)
    const reason = `${path} contains instructions that agents receive in every later run.`
    const restricted = permitPath('edit', path, root, policy.permissions).filter(restricts)
    return (
      strictest([...restricted, ...permitPath('edit', path, root, permissions)]) ?? {
        decision,
        stage: 'instructions',
        reason,
      }
    )
  })
  return strictest(opinions) ?? { decision: 'deny', stage: 'instructions', reason: 'The patch changes nothing.' }
}

/** Drops path permissions that neither the user nor the machine's owner wrote: a repository can't allow anything outside itself. */
function ownPermissions(permissions: PermissionSet): PermissionSet {
  const own = permissions.paths.filter(({ origin }) => origin.layer === 'user' || origin.layer === 'managed')
  return { ...permissions, paths: own }
}

function assessRead(action: Of<'read'>, policy: Policy): Opinion {
  const restricted = strictest(permitPath('read', action.path, '/', policy.permissions).filter(restricts))
  if (restricted !== undefined) return restricted
  // A view leaves out files with secrets, unless the user shows them or the repository's history contains them.
  const isInView = policy.onView === true && policy.writableRoots.some((root) => isInside(action.path, root))
  const sensitive = (isInView ? undefined : findSensitive(action.path)) ?? policy.conceals?.([action.path])[0]?.place
  if (sensitive === undefined) return { decision: 'allow', stage: 'mode', reason: 'Reading is allowed.' }
  const decision = policy.mode === 'bypass' ? 'allow' : 'ask'
  return { decision, stage: 'secrets', reason: `Credentials are stored in ${action.path} (${sensitive}).` }
}

function assessNetwork(action: Of<'network'>, policy: Policy): Opinion {
  const host = action.host
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1')
  const place = `${host}:${action.port} (${action.protocol})`
  const opinions = policy.rules.networkRules
    .filter((rule) => rule.host === host && (rule.protocol === action.protocol || action.protocol === 'tcp'))
    .filter((rule) => rule.decision !== 'allow' || rule.port === undefined || rule.port === action.port)
    .map((rule): Opinion => {
      const decision = rule.decision === 'prompt' ? 'ask' : rule.decision
      const label = `${rule.origin.path}:${rule.origin.line} network_rule ${rule.host}`
      return {
        decision,
        stage: 'rules',
        reason: rule.justification ?? `A rule ${networkVerbs[rule.decision]} connections to ${place}.`,
        rule: label,
      }
    })
  const said = strictest([...opinions, ...permitHost(host, policy.permissions)])
  if (said !== undefined) return said
  // The sandbox has a network policy of its own. So only the mode `untrusted` asks about a connection from inside the sandbox.
  const fits = action.sandboxed === true && policy.mode !== 'untrusted'
  const decision = policy.mode === 'bypass' || fits ? 'allow' : 'ask'
  return { decision, stage: 'mode', reason: `No rule covers a connection to ${place}.` }
}

function assessTool(action: Of<'mcp'>, policy: Policy): Opinion {
  const readOnlyHint = action.readOnlyHint === true
  const name = `mcp__${action.server}__${action.tool}`
  const permitted = strictest(permitTool(action, policy.permissions))
  if (permitted !== undefined) return permitted
  const decision = answerForTool(policy.mode, readOnlyHint)
  const reason = readOnlyHint
    ? `According to its server, ${name} only reads.`
    : `${name} may change something, and no permission covers this tool.`
  return { decision, stage: 'mode', reason }
}

function restricts(opinion: Opinion): boolean {
  return opinion.decision !== 'allow'
}
