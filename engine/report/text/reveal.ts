import { escapeInvisible } from '../../core/text/escape-invisible.ts'

/**
 * A text for display: invisible characters and those that reverse the text are escaped, and invalid ones become U+FFFD. Line ends are line
 * feeds.
 */
export function revealed(text: string): string {
  return escapeInvisible(text.toWellFormed().replaceAll('\r\n', '\n')).replace(
    /[\u115f\u1160\u3164\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
