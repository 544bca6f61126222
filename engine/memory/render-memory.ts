import { escapeInvisibleInLine } from '../core/text/escape-invisible.ts'
import type { Memory } from './read-memory.ts'

/** Renders the instructions for the model: one text for each file, labelled with its path. No text can pretend to be a different file. */
export function renderMemory({ sources }: Memory): readonly string[] {
  return sources.map(({ path, text }) => {
    const own = text.trimEnd().replaceAll(/<(?=\/?instructions\b)/gi, '&lt;')
    const file = escapeInvisibleInLine(path).replaceAll('"', '&quot;')
    return `<instructions file="${file}">\n${own}\n</instructions>`
  })
}

/** Describes which instructions were left out and why, one sentence for each file. */
export function describeOmitted({ omitted }: Memory): readonly string[] {
  return omitted.map(
    ({ path, reason }) => `The instructions in ${escapeInvisibleInLine(path)} are left out: ${reason}.`,
  )
}
