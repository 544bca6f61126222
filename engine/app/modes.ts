import type { ApprovalMode } from '../../policies/index.ts'
import type { SandboxPolicy } from '../../sandbox/index.ts'
import { defaultApproval, defaultSandbox } from '../config/defaults.ts'
import type { Settings } from '../config/settings-schema.ts'
import { UserError } from '../core/user-error.ts'

/**
 * The mode that decides when the Guardian asks for approval: the configured one, or else `on-request` if the configuration names a reviewer, or else the
 * default.
 */
export function approvalModeOf(settings: Settings): ApprovalMode {
  // A user who names a reviewer wants this reviewer to be asked.
  return settings.approval_policy ?? (namesReviewer(settings) ? 'on-request' : defaultApproval)
}

function namesReviewer(settings: Settings): boolean {
  if (settings.approvals_reviewer !== undefined) return settings.approvals_reviewer !== 'none'
  return settings.approval_program !== undefined || settings.approval_url !== undefined
}

/**
 * Returns the sandbox mode for a run that an external sandbox confines.
 *
 * @param asked the value of `-s`
 * @throws UserError `usage` if the value requires a sandbox that this program starts
 */
export function externalMode(asked: SandboxPolicy['mode'] | undefined): 'danger-full-access' {
  if (asked === undefined || asked === 'danger-full-access') return 'danger-full-access'
  throw new UserError(
    'usage',
    `--externally-sandboxed means that no sandbox is started, but -s ${asked} asks for one: leave out one of these options`,
  )
}

/** The sandbox mode, which determines what commands may access: the configured one, or else the default. */
export function sandboxModeOf(settings: Settings): SandboxPolicy['mode'] {
  return settings.sandbox_mode ?? defaultSandbox
}
