import { countWithheld, type Sandbox, type Withheld } from '../../sandbox/index.ts'

/** What no event of a run lets a reader overlook about its sandbox. Absent: what commands could do is the sandbox's own affair. */
export type SandboxStatus = {
  /** Nothing of ours confines commands: somebody stated that what is outside does. */
  readonly sandbox?: 'external'
  /** What of this machine was given to commands that is a way out of any sandbox. */
  readonly dangers?: Danger[]
}

type Danger = 'docker-socket'

/** What holds for a run in this sandbox from its first event to its last. */
export function sandboxStatusOf({ backend, policy }: Sandbox): SandboxStatus {
  const dangers: Danger[] = policy.dockerSocket === undefined ? [] : ['docker-socket']
  return {
    ...(backend === 'external' ? { sandbox: backend } : {}),
    ...(dangers.length === 0 ? {} : { dangers }),
  }
}

/** A danger as a sentence for a person. */
export function describeDanger(danger: Danger): string {
  switch (danger) {
    case 'docker-socket':
      return "commands could talk to this machine's docker daemon, which makes them root on it"
    default:
      return danger satisfies never
  }
}

/** What the end of a run says of its sandbox. */
export function closingOf(sandbox: Sandbox): { readonly unenforced: readonly string[]; readonly withheld: Withheld } {
  return { unenforced: sandbox.unenforced, withheld: withheldBy(sandbox) }
}

/** What of the environment that they inherit from commands don't get. */
export function withheldBy({ policy }: Sandbox): Withheld {
  return countWithheld(policy)
}
