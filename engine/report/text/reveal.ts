import { escapeInvisible } from '../../core/text/escape-invisible.ts'

/**
 * A text as it may be shown: what would be seen as nothing, or would turn the text around it, is written out, and what is no character at all becomes
 * U+FFFD. Line ends are line feeds.
 */
export function revealed(text: string): string {
  return escapeInvisible(text.toWellFormed().replaceAll('\r\n', '\n')).replace(
    /[\u115f\u1160\u3164\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
