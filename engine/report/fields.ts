import { truncateMiddle } from '../core/text/truncate.ts'
import { ownText } from './own-text.ts'

/** The fields of a JSON object from a file. They aren't trusted: the file may be truncated, forged, or written by another version. */
export type Fields = Readonly<Record<string, unknown>>

/** The fields of an object; an empty object for any other value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** The value, if it is a string; otherwise undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The value, if it is a finite number; otherwise undefined. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The entries, if the value is an array; otherwise none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The strings in an array. Other entries are dropped. */
export function textsOf(value: unknown): readonly string[] {
  return listOf(value).flatMap((each) => textOf(each) ?? [])
}

/**
 * The maximum length of a text of one or two sentences, in characters, and the maximum number of texts in a list. Only somebody who wants to make the report
 * unreadable exceeds them.
 */
const [longestSentence, mostSentences] = [2000, 50]

/** Like `textOf`, but cuts out the middle of a text that is too long for a sentence, a name or a path. */
export function shortTextOf(value: unknown): string | undefined {
  const text = textOf(value)
  return text === undefined || text.length <= longestSentence
    ? text
    : ownText(truncateMiddle(text, longestSentence).text)
}

/** Like `textsOf`, but shortens each text as `shortTextOf` does, and keeps only the first 50 texts. */
export function shortTextsOf(value: unknown): readonly string[] {
  return listOf(value)
    .slice(0, mostSentences)
    .flatMap((each) => shortTextOf(each) ?? [])
}
