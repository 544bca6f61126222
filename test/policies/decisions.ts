import type { Action, SandboxMode } from '../../policies/action.ts'
import {
  createGuardian,
  loadPermissions,
  loadRules,
  nobody,
  withoutAuditLog,
  type ApprovalMode,
} from '../../policies/index.ts'

/** An exec action for a line typed into a shell. */
export function shellAction(line: string, sandbox: SandboxMode = 'workspace-write'): Extract<Action, { type: 'exec' }> {
  return { type: 'exec', argv: ['/bin/bash', '-c', line], cwd: '/repo', sandbox }
}

/** The decision about a line before anybody is asked. */
export function decide(
  line: string,
  options: { readonly mode?: ApprovalMode; readonly sandbox?: SandboxMode; readonly rules?: string } = {},
): 'allow' | 'ask' | 'deny' {
  const guardian = createGuardian({
    approvalMode: options.mode ?? 'untrusted',
    rules: loadRules([{ path: 'test.rules', layer: 'user', text: options.rules ?? '' }]),
    reviewer: nobody,
    audit: withoutAuditLog(),
  })
  return guardian.assess(shellAction(line, options.sandbox)).decision
}

/** Loads permissions in which these are the user's own deny entries for the folder `/w`. */
export function denying(deny: readonly string[]): ReturnType<typeof loadPermissions> {
  const text = JSON.stringify({ permissions: { deny } })
  return loadPermissions([{ path: '/w/.claude/settings.json', layer: 'user', folder: '/w', text }])
}
