/** A line in which control characters except tabs are escaped, because they could move a terminal's cursor or change its colours. */
export function escapeControls(text: string): string {
  return text.replace(/\r/g, '␍').replace(/[^\P{Cc}\t]/gu, codePoint)
}

function codePoint(sign: string): string {
  return `<U+${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}>`
}

/** A line, cut after 300 characters, in which invisible characters are made visible. */
export function showWhitespace(text: string): string {
  const shown = text.length > 300 ? `${text.slice(0, 300)}…` : text
  return shown
    .replace(/ /g, '·')
    .replace(/\t/g, '→')
    .replace(/\r/g, '␍')
    .replace(/[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]/gu, codePoint)
}
