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
  return (text) => withNames(text, secretsKnown(secrets))
}

type Secret = { readonly name: string; readonly value: string }

/** Secrets that aren't in the environment, such as tokens that a server has issued to this process. They are masked in every run of the process. */
const learned: Secret[] = []

/** Masks a secret from now on, as those of the environment are masked. */
export function learnSecret(name: string, value: string): void {
  const forms = formsOf(value).filter((form) => !learned.some((known) => known.value === form))
  learned.push(...forms.map((form) => ({ name, value: form })))
  learned.sort((a, b) => b.value.length - a.value.length)
}

/** The secrets of an environment, together with those that were learned. */
export function secretsKnown(secrets: readonly Secret[]): readonly Secret[] {
  return learned.length === 0 ? secrets : [...learned, ...secrets]
}

/** Replaces each secret in a text with its name. */
export function withNames(text: string, secrets: readonly Secret[]): string {
  return secrets.reduce((masked, { name, value }) => masked.replaceAll(value, () => `[${name}]`), text)
}

/**
 * The values of the environment variables that look like secrets and are therefore withheld from commands, in each form in which a text may contain them.
 */
export function secretsIn(env: Readonly<NodeJS.ProcessEnv>): readonly Secret[] {
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
