import type { Credential } from '../../sandbox/index.ts'

/** The credentials of a run: what the policy says of them, and what it must not say. */
export type OpenCredentials = {
  readonly policy: readonly Credential[]
  /** Variables of commands: stand-ins, and addresses at which clients find the proxy. */
  readonly set: Readonly<Record<string, string>>
  /** Names of this program's variables that contain a value. They are kept from commands, whatever they are called. */
  readonly exclude: readonly string[]
  readonly secretOf: (name: string) => string | undefined
  /** The values and the stand-ins, which are masked in all that is recorded. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[]
}

/** What a run without credentials has. */
export const noCredentials: OpenCredentials = {
  policy: [],
  set: {},
  exclude: [],
  secretOf: () => undefined,
  secrets: [],
}
