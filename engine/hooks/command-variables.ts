import { effectOfVariable } from '../../policies/index.ts'
import { refusalOfVariable, type SandboxPolicy } from '../../sandbox/index.ts'
import { parseEnvFile } from './env-file.ts'

type EnvironmentPolicy = SandboxPolicy['environment']

/**
 * Variables that hooks set for the commands of a run. They are applied after the environment policy but can't override it: what the policy removes
 * stays removed, and what it sets stays set. A hook can't set variables that look like secrets, or that can change which programs a command runs or
 * which hosts it connects to.
 */
export class CommandVariables {
  readonly #policy: EnvironmentPolicy
  readonly #values = new Map<string, string>()

  constructor(policy: EnvironmentPolicy) {
    this.#policy = policy
  }

  /** The variables that hooks have set for commands. */
  get values(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#values)
  }

  /**
   * Reads the variables that a hook wrote, and adds them for all later commands.
   *
   * @param hook the hook's name in messages
   * @returns a sentence for each rejected variable and, if there are lines that set no variable, one about them
   */
  take(text: string, hook: string): readonly string[] {
    const { variables, others } = parseEnvFile(text)
    const problems: string[] = []
    for (const [name, value] of variables) {
      const problem = this.#problemOf(name, value)
      if (problem === undefined) this.#values.set(name, value)
      else problems.push(`The hook ${hook} set ${name}, but commands don't get it: ${problem}.`)
    }
    if (others.length > 0) {
      const [first = ''] = others
      const more = others.length === 1 ? '' : `, and ${others.length - 1} more`
      const shown = first.length > 80 ? `${first.slice(0, 79)}…` : first
      problems.push(
        `The hook ${hook} wrote '${shown}'${more} to CLAUDE_ENV_FILE. Only lines like export NAME=value are supported.`,
      )
    }
    return problems
  }

  #problemOf(name: string, value: string): string | undefined {
    const refused = refusalOfVariable(this.#policy, name, value)
    if (refused !== undefined) return reasons[refused]
    return effectOfVariable(name, value, true) === 'dangerous'
      ? 'it can change the programs that commands run, or the hosts that commands connect to'
      : undefined
  }
}

const reasons = {
  secret: 'it looks like a secret',
  set: 'the configuration sets it',
  excluded: 'the configuration excludes it',
} as const
