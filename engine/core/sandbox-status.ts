import { countWithheld, type Sandbox, type Withheld } from '../../sandbox/index.ts'

/** What every event says about the run's sandbox, so that no reader can miss it. Each field is present only in the cases that its comment names. */
export type SandboxStatus = {
  /** `external`: this program doesn't confine commands, because the user stated that an external sandbox does. */
  readonly sandbox?: 'external'
  /**
   * Why what the run changed was there at once, without the judgement of a landing. `by rules`: the sandbox's rules alone refused some places. Absent: the
   * run works on a view, or may not write.
   */
  readonly in_place?: 'not judged' | 'by rules'
  /** Access to this machine that commands were given although it lets them escape from any sandbox. */
  readonly dangers?: Danger[]
}

type Danger = 'docker-socket'

/** Returns the status of a run's sandbox, which is the same in all events of the run. */
export function sandboxStatusOf({ backend, policy }: Sandbox): SandboxStatus {
  const dangers: Danger[] = policy.dockerSocket === undefined ? [] : ['docker-socket']
  return {
    ...(backend === 'external' ? { sandbox: backend } : {}),
    ...(policy.mode === 'read-only' || policy.views.length > 0
      ? {}
      : { in_place: backend === 'seatbelt' ? 'by rules' : 'not judged' }),
    ...(dangers.length === 0 ? {} : { dangers }),
  }
}

/** Describes a danger in a sentence for the user. */
export function describeDanger(danger: Danger): string {
  switch (danger) {
    case 'docker-socket':
      return "commands could talk to this machine's docker daemon, which gives them root access to this machine"
    default:
      return danger satisfies never
  }
}

/** Returns the facts about the sandbox that are reported when a run ends: limits that could not be enforced, and how many variables were withheld. */
export function closingOf(sandbox: Sandbox): { readonly unenforced: readonly string[]; readonly withheld: Withheld } {
  return { unenforced: sandbox.unenforced, withheld: withheldBy(sandbox) }
}

/** Returns how many variables are withheld from commands, and how many of these count as secrets. */
export function withheldBy({ policy }: Sandbox): Withheld {
  return countWithheld(policy)
}
