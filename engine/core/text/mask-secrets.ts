import { looksLikeSecret } from '../../../sandbox/index.ts'

/** The length of the shortest value that is masked, in characters. Shorter values may be ordinary words. */
const shortest = 8

/** Replaces each secret value in a text with the name of the environment variable that contains it. */
export type Mask = (text: string) => string

/**
 * Creates a mask for the values of environment variables that look like secrets and are therefore withheld from commands.
 *
 * @param env the engine's own environment
 */
export function maskSecrets(env: Readonly<NodeJS.ProcessEnv>): Mask {
  const secrets = secretsIn(env)
  return (text) => secrets.reduce((masked, { name, value }) => masked.replaceAll(value, () => `[${name}]`), text)
}

/**
 * The values of the environment variables that look like secrets and are therefore withheld from commands, in each form in which a text may contain them.
 */
export function secretsIn(
  env: Readonly<NodeJS.ProcessEnv>,
): readonly { readonly name: string; readonly value: string }[] {
  return (
    Object.entries(env)
      .flatMap(([name, value]) =>
        value !== undefined && looksLikeSecret(name, value)
          ? formsOf(value).map((form) => ({ name, value: form }))
          : [],
      )
      // Longer secrets are masked first, because a secret may contain a shorter one.
      .toSorted((a, b) => b.value.length - a.value.length)
  )
}

/** A value without the white space around it, which programs drop, and as it stands in JSON, such as a final message that must match a schema. */
function formsOf(value: string): readonly string[] {
  const plain = value.trim()
  if (plain.length < shortest) return []
  return [...new Set([plain, JSON.stringify(plain).slice(1, -1)])]
}
