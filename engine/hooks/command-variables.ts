import { effectOfVariable } from '../../policies/index.ts'
import { refusalOfVariable, type SandboxPolicy } from '../../sandbox/index.ts'
import { parseEnvFile } from './env-file.ts'

type EnvironmentPolicy = SandboxPolicy['environment']

/**
 * Variables that hooks set for the commands of a run. They are applied after the environment policy and can't undo it: variables that the
 * policy removes or sets stay so, and a hook can't set variables that look like secrets or decide what a command runs.
 */
export class CommandVariables {
  readonly #policy: EnvironmentPolicy
  readonly #values = new Map<string, string>()

  constructor(policy: EnvironmentPolicy) {
    this.#policy = policy
  }

  /** What commands get. */
  get values(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#values)
  }

  /**
   * Takes the variables that a hook has written, from now on.
   *
   * @param hook its name in messages
   * @returns sentences about rejected ones
   */
  take(text: string, hook: string): readonly string[] {
    const { variables, others } = parseEnvFile(text)
    const problems: string[] = []
    for (const [name, value] of variables) {
      const problem = this.#problemOf(name, value)
      if (problem === undefined) this.#values.set(name, value)
      else problems.push(`The hook ${hook} sets ${name}, which commands don't get: ${problem}.`)
    }
    if (others.length > 0) {
      const [first = ''] = others
      const more = others.length === 1 ? '' : `, and ${others.length - 1} more`
      const shown = first.length > 80 ? `${first.slice(0, 79)}…` : first
      problems.push(
        `The hook ${hook} wrote '${shown}'${more} to CLAUDE_ENV_FILE: only export NAME=value is understood.`,
      )
    }
    return problems
  }

  #problemOf(name: string, value: string): string | undefined {
    const refused = refusalOfVariable(this.#policy, name, value)
    if (refused !== undefined) return reasons[refused]
    return effectOfVariable(name, value, true) === 'dangerous'
      ? 'it decides what commands run or where they connect'
      : undefined
  }
}

const reasons = {
  secret: 'it looks like a secret',
  set: 'the configuration sets it',
  excluded: 'the configuration leaves it out',
} as const
