// Separate from the table of settings, which takes long to load and is needed only where there is a configuration.

/** The model a run uses when neither `-m` nor the configuration names one. */
export const defaultModel = 'gpt-5.5'

/** When the Guardian asks by default. With nobody there to answer, asking would always mean a denial. */
export const defaultApproval = 'never'

/** The default access of commands. */
export const defaultSandbox = 'workspace-write'
