import { expect, test } from 'vitest'
import { sanitizeOutput } from '../../../engine/core/text/sanitize-output.ts'

test.each([
  ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
  ['a window title', '\u001b]0;evil\u0007text', 'text'],
  ['a hyperlink', '\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['Windows line endings', 'a\r\nb\r\r\n', 'a\nb\n'],
  ['a progress bar that overwrites its line', '10%\r20%\r', '10%\n20%\n'],
  ['NUL and other control characters', 'a\0b\u0007c\u009bd', 'a\ufffdb\ufffdc\ufffdd'],
  ['tabs and newlines, which stay', 'a\tb\n', 'a\tb\n'],
])('%s', (_, raw, clean) => {
  expect(sanitizeOutput(Buffer.from(raw))).toBe(clean)
})

test('invalid UTF-8 becomes the replacement character', () => {
  expect(sanitizeOutput(Buffer.from([0x61, 0xff, 0x62]))).toBe('a\ufffdb')
})

test('no sequence of bytes lets a control character through, except tab and newline', () => {
  const every = Buffer.from(Array.from({ length: 65_536 }, (_, index) => (index * 7919) & 0xff))
  expect(sanitizeOutput(every)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
})
