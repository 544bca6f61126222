// Apart from the schema, which takes long to load and is needed only where there is a configuration.
import type { Settings } from './schema.ts'

/** The model a run uses when neither `-m` nor the configuration names one. */
export const defaultModel = 'gpt-5.5'

/** When the Guardian asks, where nobody says. With nobody there to answer, asking would only refuse. */
export const defaultApproval = 'never'

/** What commands may touch, where nobody says. */
export const defaultSandbox = 'workspace-write'

/** What holds where nobody says anything, for whoever asks what is in force. */
export const defaults: Settings = {
  model: defaultModel,
  approval_policy: defaultApproval,
  sandbox_mode: defaultSandbox,
  sandbox_workspace_write: { writable_roots: [], network_access: false },
  shell_environment_policy: { inherit: 'core' },
}
