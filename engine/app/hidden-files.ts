import { accessDenial, credentialPlaces, parsePolicy } from '../../sandbox/index.ts'
import { assessor } from '../core/assessor.ts'
import { configuredPolicy } from '../config/configured-policy.ts'
import type { Settings } from '../config/settings-schema.ts'
import type { PermissionSet, RuleSet } from '../../policies/index.ts'
import { approvalModeOf, sandboxModeOf } from './modes.ts'

/**
 * Returns a function that tells why a file of a repository must not be read for the model: because the sandbox hides it from commands, or because the Guardian
 * doesn't allow tools to read it. This also applies to files that the repository itself requests, such as imports in its instructions.
 *
 * @param root the root of the repository
 */
export function hiddenFiles(
  settings: Settings,
  root: string,
  policies: Policies,
): (path: string) => string | undefined {
  // The policy is read only at the first call, because many repositories contain no file to ask about.
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
