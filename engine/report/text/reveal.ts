import { escapeInvisible } from '../../core/text/escape-invisible.ts'

/**
 * Prepares text for display: escapes invisible characters and those that reverse the text direction, and replaces invalid ones with U+FFFD. CRLF
 * becomes LF.
 */
export function revealed(text: string): string {
  return escapeInvisible(text.toWellFormed().replaceAll('\r\n', '\n')).replace(
    /[\u115f\u1160\u3164\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
