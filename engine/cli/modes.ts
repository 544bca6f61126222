import type { ApprovalMode } from '../../policies/index.ts'
import type { SandboxPolicy } from '../../sandbox/index.ts'
import { defaultApproval, defaultSandbox, type ConfigFile } from '../config/schema.ts'
import type { ExecOptions } from './declare/exec.ts'

/** When the Guardian asks: what the flags say, else the configuration, else the default. */
export function approvalModeOf(options: ExecOptions, config: ConfigFile): ApprovalMode {
  if (options.dangerouslyBypassApprovalsAndSandbox === true) return 'bypass'
  if (options.fullAuto === true) return 'on-request'
  return options.askForApproval ?? config.approval_policy ?? defaultApproval
}

/** What commands may touch: what the flags say, else the configuration, else the default. */
export function sandboxModeOf(options: ExecOptions, config: ConfigFile): SandboxPolicy['mode'] {
  if (options.dangerouslyBypassApprovalsAndSandbox === true) return 'danger-full-access'
  if (options.fullAuto === true) return 'workspace-write'
  return options.sandbox ?? config.sandbox_mode ?? defaultSandbox
}
