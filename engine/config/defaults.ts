// Apart from the table of settings, which takes long to load and is needed only where there is a configuration.

/** The model a run uses when neither `-m` nor the configuration names one. */
export const defaultModel = 'gpt-5.5'

/** When the Guardian asks, where nobody says. With nobody there to answer, asking would only refuse. */
export const defaultApproval = 'never'

/** What commands may touch, where nobody says. */
export const defaultSandbox = 'workspace-write'
