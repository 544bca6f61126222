/**
 * Makes characters visible that would affect a terminal or can't be seen: control characters, direction marks, zero-width characters, soft hyphens,
 * and line and paragraph separators become `\u{…}`. Line feeds and tabs are kept.
 */
export function escapeInvisible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u{${character.charCodeAt(0).toString(16)}}`,
  )
}

/**
 * Like `escapeInvisible`, but for a single line: line feeds and tabs are escaped too. Use it for file names and for sentences that contain
 * file names: a name may contain any character except `/` and NUL, and with a line feed it could fake another line.
 */
export function escapeInvisibleInLine(text: string): string {
  return escapeInvisible(text).replace(/[\t\n]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`)
}
