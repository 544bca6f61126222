import { createHash } from 'node:crypto'

/**
 * Converts a call's id to one that a provider accepts. Some ids, from other servers or from the provider itself, are too long or contain characters
 * that the provider refuses. The same id always gives the same result, so a call and its result still match.
 *
 * @param most how many characters the new id may have
 */
export function fittingId(id: string, most = Infinity): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_')
  // A changed id ends with part of a digest, so that ids stay different if they begin alike or differ only in replaced characters.
  return plain === id && id.length <= most
    ? id
    : `${plain.slice(0, Math.min(most, 60) - 13)}_${digest(id).slice(0, 12)}`
}

/**
 * Like `fittingId`, but for Mistral's models, which accept exactly nine letters and digits (https://mistralai.github.io/mistral-common/usage/tools/).
 */
export function mistralId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : digest(id).slice(0, 9)
}

/**
 * Converts a tool's name to one that a provider accepts in a call. Models sometimes call tools by names that no tool could have, and these calls
 * stay in the conversation.
 */
export function fittingName(name: string, most: number): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, most)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
