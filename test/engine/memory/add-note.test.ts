import { expect, test } from 'vitest'
import { addNote } from '../../../engine/memory/add-note.ts'

const note = 'use tabs'
const added = (text: string, section = 'Notes') => addNote(text, section, note)

test.each([
  ['an empty file', '', '## Notes\n\n- use tabs\n'],
  ['a file without the section', '# A\n\ntext\n', '# A\n\ntext\n\n## Notes\n\n- use tabs\n'],
  ['one that ends in empty lines', '# A\n\n', '# A\n\n## Notes\n\n- use tabs\n'],
  ['a section with a list', '## Notes\n\n- a\n- b\n\n## B\n', '## Notes\n\n- a\n- b\n- use tabs\n\n## B\n'],
  ['an item of two lines', '## Notes\n- a\n  more\n', '## Notes\n- a\n  more\n- use tabs\n'],
  ['a section of prose', '## Notes\ntext\n## B\n', '## Notes\ntext\n\n- use tabs\n## B\n'],
  ['an empty section', '## Notes\n\n## B\n', '## Notes\n\n- use tabs\n\n## B\n'],
  ['a section with one within it', '# Notes\n- a\n## Old\n- b\n', '# Notes\n- a\n- use tabs\n## Old\n- b\n'],
  ['a heading written otherwise', '  ### nOTES ##\n- a\n', '  ### nOTES ##\n- a\n- use tabs\n'],
  ['a byte-order mark', '\ufeff# Notes\n- a\n', '\ufeff# Notes\n- a\n- use tabs\n'],
  ['the line endings of Windows', '# Notes\r\n- a\r\n# B\r\n', '# Notes\r\n- a\r\n- use tabs\r\n# B\r\n'],
  ['no final newline', '# Notes\n- a', '# Notes\n- a\n- use tabs'],
  ['no final newline and no section', 'text', 'text\n\n## Notes\n\n- use tabs'],
  ['a heading in a code block', '```\n# Notes\n```\n', '```\n# Notes\n```\n\n## Notes\n\n- use tabs\n'],
  [
    'a fence within a longer one',
    '````\n```\n# Notes\n````\n# Notes\n- a\n',
    '````\n```\n# Notes\n````\n# Notes\n- a\n- use tabs\n',
  ],
])('a note is put into %s, and nothing else changes', (_, before, after) => {
  expect(added(before)).toEqual({ text: after })
})

test.each([
  '# Notes\n- use tabs\n',
  '# Notes\n\n* use tabs\n# B\n',
  '# Notes\r\n+  use tabs \r\n',
  '# Notes\n- use tabs',
])('a note that %j has already is not added again', (text) => {
  expect(added(text)).toEqual({ same: true })
})

test('a note is added even if another section has the same words', () => {
  expect(added('# B\n- use tabs\n# Notes\n- a\n')).toEqual({ text: '# B\n- use tabs\n# Notes\n- a\n- use tabs\n' })
})

test('nothing is added to a text that ends within a code block', () => {
  expect(added('# Notes\n```\ncode\n')).toEqual({ problem: 'a code block in it is never closed' })
})
