import type { ApprovalMode } from '../../policies/index.ts'
import type { SandboxPolicy } from '../../sandbox/index.ts'
import { defaultApproval, defaultSandbox } from '../config/defaults.ts'
import type { Settings } from '../config/settings-schema.ts'
import { UserError } from '../core/user-error.ts'

/** When the Guardian asks: what the configuration says, else whenever somebody is named to answer, else the default. */
export function approvalModeOf(settings: Settings): ApprovalMode {
  // Whoever names a reviewer wants to have it asked.
  return settings.approval_policy ?? (namesReviewer(settings) ? 'on-request' : defaultApproval)
}

function namesReviewer(settings: Settings): boolean {
  if (settings.approvals_reviewer !== undefined) return settings.approvals_reviewer !== 'none'
  return settings.approval_program !== undefined || settings.approval_url !== undefined
}

/**
 * The mode of a command whose sandbox is outside.
 *
 * @param asked what `-s` says
 * @throws UserError `usage` where that asks for a sandbox of ours
 */
export function externalMode(asked: SandboxPolicy['mode'] | undefined): 'danger-full-access' {
  if (asked === undefined || asked === 'danger-full-access') return 'danger-full-access'
  throw new UserError(
    'usage',
    `--externally-sandboxed leaves the sandbox to others, but -s ${asked} asks for one: leave one of them out`,
  )
}

/** What commands may touch: what the configuration says, else the default. */
export function sandboxModeOf(settings: Settings): SandboxPolicy['mode'] {
  return settings.sandbox_mode ?? defaultSandbox
}
