/**
 * Text with every character shown that would otherwise act on a terminal or be seen as nothing: control characters,
 * direction marks and zero-width ones become `\u{…}`. Line feeds and tabs stay.
 */
export function escapeInvisible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u{${character.charCodeAt(0).toString(16)}}`,
  )
}

/**
 * Text of which none may be told from another by its lines: as `visible`, and line feeds and tabs are shown too. For names of files, and
 * for sentences with names in them: a name may hold any character but `/` and NUL, and would say with a line feed what is another line's.
 */
export function escapeInvisibleInLine(text: string): string {
  return escapeInvisible(text).replace(/[\t\n]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`)
}
