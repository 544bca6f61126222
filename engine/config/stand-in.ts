import { randomBytes } from 'node:crypto'

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Makes a text with the shape of a secret, so that clients accept it: a known prefix, the same length, and punctuation in the same places. It says nothing
 * else about the secret.
 */
export function makeStandIn(value: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((known) => value.startsWith(known)) ?? ''
  const rest = value.slice(prefix.length)
  const bytes = randomBytes(rest.length)
  return (
    prefix +
    [...rest].map((letter, at) => (/[\dA-Za-z]/.test(letter) ? digits[(bytes[at] ?? 0) % 62] : letter)).join('')
  )
}
