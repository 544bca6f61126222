import { SandboxError } from '../sandbox-error.ts'

/** How many times the mounts of one command are planned at most. */
const mostPlans = 3

/**
 * Plans the mounts of a command, again if an entry that was found on the host is gone or replaced by the time it is looked up. This happens if another
 * program removes a repository there, for example. A new plan is as safe as the first one, because it is made from what is there now.
 *
 * @throws SandboxError `path-changed` if this happens again and again, or for an entry that the user approved
 */
export function planAgain<Plan>(plan: () => Plan): Plan {
  for (let plans = 1; ; plans += 1) {
    try {
      return plan()
    } catch (error) {
      const isPassing = SandboxError.is(error, 'path-changed') && error.data.approved !== true
      if (!isPassing || plans === mostPlans) throw error
    }
  }
}
