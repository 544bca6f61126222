// The defaults are kept separate from the table of settings, because that table takes a long time to load and is needed only if there is a
// configuration.

/** The model of a run when neither `-m` nor the configuration names one. */
export const defaultModel = 'gpt-5.5'

/** The model of a command line for Claude Code, unless another one is configured. */
export const claudeModel = 'claude-opus-5-5'

/** The default approval policy: the Guardian never asks. If nobody is there to answer, as is often the case, every question would end in a denial. */
export const defaultApproval = 'never'

/** The default sandbox mode for commands. */
export const defaultSandbox = 'workspace-write'
