import type { ApprovalMode } from '../../policies/index.ts'
import type { SandboxPolicy } from '../../sandbox/index.ts'
import { defaultApproval, defaultSandbox, type ConfigFile } from '../config/schema.ts'
import { UserError } from '../user-error.ts'
import type { ExecOptions } from './declare/exec.ts'

/**
 * When the Guardian asks: what the flags say, else the configuration, else the default.
 *
 * @throws UserError `usage` for a reviewer that would never be asked
 */
export function approvalModeOf(options: ExecOptions, config: ConfigFile): ApprovalMode {
  if (options.dangerouslyBypassApprovalsAndSandbox === true) return 'bypass'
  if (options.fullAuto === true) return 'on-request'
  // Whoever names a reviewer wants to have it asked.
  const named = options.approveForMe === true || options.approvalProgram !== undefined
  if (named && options.askForApproval === 'never') {
    throw new UserError(
      'usage',
      '--ask-for-approval never asks nobody, so nothing is left for the reviewer named: drop one of the two.',
    )
  }
  if (named) return options.askForApproval ?? 'on-request'
  const asks = namesReviewer(config) ? 'on-request' : defaultApproval
  return options.askForApproval ?? config.approval_policy ?? asks
}

function namesReviewer(config: ConfigFile): boolean {
  if (config.approvals_reviewer !== undefined) return config.approvals_reviewer !== 'none'
  return config.approval_program !== undefined || config.approval_url !== undefined
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

/** What commands may touch: what the flags say, else the configuration, else the default. */
export function sandboxModeOf(options: ExecOptions, config: ConfigFile): SandboxPolicy['mode'] {
  if (options.dangerouslyBypassApprovalsAndSandbox === true) return 'danger-full-access'
  if (options.externallySandboxed === true) return externalMode(options.sandbox)
  if (options.fullAuto === true) return 'workspace-write'
  return options.sandbox ?? config.sandbox_mode ?? defaultSandbox
}
