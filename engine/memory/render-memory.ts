import type { Memory } from './read-memory.ts'

/** Instructions as the model is told them: a text for each file, under its path. */
export function renderMemory({ sources }: Memory): readonly string[] {
  return sources.map(({ path, text }) => `<instructions file="${path}">\n${text.trimEnd()}\n</instructions>`)
}
