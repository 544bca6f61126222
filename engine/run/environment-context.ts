/** What a model needs to know about the environment of its run. */
type EnvironmentFacts = {
  readonly workspace: string
  /** Today's date, in the form `2026-11-22`. */
  readonly date: string
  readonly system: string
  /** The shell that runs command lines. */
  readonly shell: string
  /** The checked-out branch and the state of the repository, in one line. */
  readonly git: string
  readonly sandboxMode: string
  /** Directories and files that commands may write to besides the workspace and their own `/tmp`. */
  readonly writable: readonly string[]
  /** Whether commands have a `/tmp` of their own. */
  readonly hasPrivateTmp: boolean
  /** The hosts that commands can reach: all (`full`), none (`off`), or those in the list. */
  readonly network: 'full' | 'off' | readonly string[]
  /** Servers outside the sandbox that commands can reach, each as the port of `localhost` at which they find it. */
  readonly services: readonly string[]
  /** Hosts for which the proxy adds a credential, and the requests that it is added to. */
  readonly credentials: readonly string[]
  readonly approvalPolicy: string
  /** A phrase that says who decides about requests for approval. */
  readonly reviewer: string
  /** Whether a command may ask for more than the sandbox allows. */
  readonly canEscalate: boolean
}

/** The text about the environment that the model gets before the prompt. It is part of the conversation and is never changed. */
export function environmentContext(facts: EnvironmentFacts): string {
  return [
    '<environment>',
    `date: ${facts.date}; system: ${facts.system}; shell: ${facts.shell}`,
    `working directory: ${facts.workspace}`,
    `git: ${facts.git}`,
    `sandbox: ${facts.sandboxMode}; ${writing(facts)}`,
    `network: ${reaching(facts.network)}`,
    ...(facts.services.length === 0 ? [] : [`servers that commands can reach: ${facts.services.join(', ')}`]),
    ...facts.credentials.map(
      (each) =>
        `credential: the proxy signs in to ${each}; git remotes and configured clients use it by themselves, other programs must ask for http://, not https://`,
    ),
    `approvals: ${facts.approvalPolicy}; ${facts.reviewer}`,
    ...(facts.canEscalate ? [escalating] : []),
    '</environment>',
  ].join('\n')
}

const escalating =
  'If the sandbox prevents something that the task needs, repeat the command with sandbox_permissions "require_escalated", one sentence ' +
  'of justification, and additional_permissions that name no more than it needs. Do not request them in advance, or for convenience.'

function writing({ sandboxMode, writable, hasPrivateTmp }: EnvironmentFacts): string {
  const tmp = hasPrivateTmp ? '; /tmp is private to this run and is deleted when it ends' : ''
  switch (sandboxMode) {
    case 'danger-full-access':
      return 'nothing confines commands, so take care outside the working directory'
    case 'read-only':
      return hasPrivateTmp ? `nothing can be written outside /tmp${tmp}` : 'nothing can be written'
    default:
      return `commands can write in the working directory${writable.map((place) => `, ${place}`).join('')}${tmp}`
  }
}

function reaching(network: EnvironmentFacts['network']): string {
  if (network === 'full') return 'full'
  if (network === 'off' || network.length === 0) return 'off'
  return `only ${network.join(', ')}`
}
