import type { ExecOptions, ReviewOptions } from '../exec-options.ts'

/** Options of Codex that `agent exec` doesn't have, or that mean something else there. */
export type CodexOptions = ExecOptions &
  Omit<ReviewOptions, 'known' | 'failOn'> & {
    readonly last?: true
    readonly all?: true
    readonly enable?: readonly string[]
    readonly disable?: readonly string[]
    readonly strictConfig?: true
    readonly ignoreUserConfig?: true
    readonly ignoreRules?: true
    readonly oss?: true
    readonly localProvider?: string
    readonly permissionProfile?: string
    readonly yolo?: true
    readonly a?: ExecOptions['askForApproval']
    readonly worktree?: true
    readonly remote?: string
    readonly dangerouslyBypassHookTrust?: true
    readonly cyberAccessProgram?: string
    readonly title?: string
  }
