import { createHash } from 'node:crypto'

/**
 * A call's id as a provider takes it, that of the call and of its result alike: ids that other servers gave, and some of a provider's own,
 * are longer than it takes back or hold other characters. The same id gives the same one every time.
 *
 * @param most how many characters it may have
 */
export function fittingId(id: string, most = Infinity): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_')
  // A part of a digest keeps two ids apart that begin alike or differ in what was replaced.
  return plain === id && id.length <= most
    ? id
    : `${plain.slice(0, Math.min(most, 60) - 13)}_${digest(id).slice(0, 12)}`
}

/** The same for Mistral's models, which take nine letters and digits (https://mistralai.github.io/mistral-common/usage/tools/). */
export function mistralId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : digest(id).slice(0, 9)
}

/** A tool's name as a provider takes it in a call: models call names that no tool could have, and the call stays in the conversation. */
export function fittingName(name: string, most: number): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, most)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
