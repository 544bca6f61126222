import { escapeInvisibleInLine } from '../core/text/escape-invisible.ts'
import type { Memory } from './read-memory.ts'

/** Instructions for the model: a text for each file, under its path, that can't pass for another file's. */
export function renderMemory({ sources }: Memory): readonly string[] {
  return sources.map(({ path, text }) => {
    const own = text.trimEnd().replaceAll(/<(?=\/?instructions\b)/gi, '&lt;')
    const file = escapeInvisibleInLine(path).replaceAll('"', '&quot;')
    return `<instructions file="${file}">\n${own}\n</instructions>`
  })
}

/** What was left out of the instructions and why, a sentence each. */
export function describeOmitted({ omitted }: Memory): readonly string[] {
  return omitted.map(
    ({ path, reason }) => `The instructions in ${escapeInvisibleInLine(path)} are left out: ${reason}.`,
  )
}
