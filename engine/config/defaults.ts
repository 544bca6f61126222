// Kept apart from the table of settings, which takes long to load and is needed only if there is a configuration.

/** The model of a run when neither `-m` nor the configuration names one. */
export const defaultModel = 'gpt-5.5'

/** The default approval policy. Without anyone to answer, every question would end as a denial. */
export const defaultApproval = 'never'

/** The default sandbox mode of commands. */
export const defaultSandbox = 'workspace-write'
