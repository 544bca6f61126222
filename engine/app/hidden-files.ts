import { accessDenial, credentialPlaces, parsePolicy } from '../../sandbox/index.ts'
import { assessor } from '../core/assessor.ts'
import { configuredPolicy } from '../config/configured-policy.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { PermissionSet, RuleSet } from '../../policies/index.ts'
import { approvalModeOf, sandboxModeOf } from './modes.ts'

/**
 * Why a file of a repository is not to be read for the model: its commands could not read it, or the Guardian would not let a tool. What
 * the repository itself asks for, such as an import in its instructions, must be no way round that.
 *
 * @param root the repository's
 */
export function hiddenFiles(
  settings: Settings,
  root: string,
  policies: Policies,
): (path: string) => string | undefined {
  // Most repositories have nothing to ask about.
  let hidden: ReturnType<typeof openHidden> | undefined
  return (path) => (hidden ??= openHidden(settings, root, policies))(path)
}

type Policies = { readonly rules: RuleSet; readonly permissions: PermissionSet }

function openHidden(settings: Settings, root: string, policies: Policies): (path: string) => string | undefined {
  const { readableRoots, deniedReads } = configuredPolicy(settings)
  const policy = parsePolicy({
    mode: sandboxModeOf(settings),
    workspace: root,
    readableRoots,
    deniedReads: [...credentialPlaces(), ...deniedReads],
  })
  const assess = assessor({ approvalMode: approvalModeOf(settings), ...policies })
  return (path) => {
    const denial = accessDenial(policy, path, 'read')
    if (denial !== undefined) return `the sandbox hides it (${denial.rule})`
    const { decision, reason } = assess({ type: 'read', path })
    return decision === 'allow' ? undefined : reason
  }
}
