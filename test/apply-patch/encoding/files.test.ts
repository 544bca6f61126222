/** Patches of files that aren't UTF-8. */
import { isUtf8 } from 'node:buffer'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyPatch, diffToPatch, formatPatch, renderFailure, undo, type Report } from '../../../apply-patch/index.ts'
import { encodeText, findEncoding } from '../../../apply-patch/encoding/encoding.ts'
import { makeScene } from '../files/tree-tools.ts'

type Files = Readonly<Record<string, string | Buffer>>

function makeTree(files: Files): { root: string; state: string } {
  const { root, state } = makeScene()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  return { root, state }
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
const utf16 = (text: string, name: 'utf-16le' | 'utf-16be'): Buffer => {
  const bytes = Buffer.from(text, 'utf16le')
  return name === 'utf-16le' ? bytes : bytes.swap16()
}
const patchOf = (path: string, body: string): string =>
  `*** Begin Patch\n*** Update File: ${path}\n@@\n${body}*** End Patch\n`

async function apply(
  files: Files,
  patch: string,
  mode: 'strict' | 'lenient' = 'strict',
): Promise<{ root: string; state: string; report: Report }> {
  const { root, state } = makeTree(files)
  return { root, state, report: await applyPatch(patch, { root, stateDirectory: state, mode }) }
}

/** Applies a patch that must be refused, and returns the message. */
async function refused(files: Files, patch: string, mode: 'strict' | 'lenient' = 'lenient'): Promise<string> {
  const { root, state } = makeTree(files)
  const error = await applyPatch(patch, { root, stateDirectory: state, mode }).then(
    () => undefined,
    (failure: unknown) => failure,
  )
  for (const [name, content] of Object.entries(files)) {
    expect(readFileSync(join(root, name))).toEqual(Buffer.from(content as string))
  }
  expect(error).toMatchObject({ code: 'not-applied' })
  return renderFailure(error)
}

describe('text is added in the encoding that is declared', () => {
  test.each<[by: string, path: string, before: Buffer, added: string, after: Buffer, others: Files]>([
    [
      'a Python comment',
      'a.py',
      latin1('# -*- coding: latin-1 -*-\n# a\xe7o\nx\n'),
      'ação',
      latin1('# -*- coding: latin-1 -*-\n# a\xe7o\nx\na\xe7\xe3o\n'),
      {},
    ],
    [
      'a comment in line 2',
      'a.rb',
      latin1('#!/usr/bin/ruby\n# encoding: iso-8859-15\n\xe9\nx\n'),
      '€',
      latin1('#!/usr/bin/ruby\n# encoding: iso-8859-15\n\xe9\nx\n\xa4\n'),
      {},
    ],
    [
      'an ASCII file whose comment says so',
      'a.py',
      latin1('# coding: latin1\nx\n'),
      'é',
      latin1('# coding: latin1\nx\n\xe9\n'),
      {},
    ],
    [
      'an XML declaration',
      'a.xml',
      latin1('<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>\xfc</a>\nx\n'),
      '<b>ß</b>',
      latin1('<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>\xfc</a>\nx\n<b>\xdf</b>\n'),
      {},
    ],
    [
      'an HTML meta element',
      'a.html',
      latin1('<!DOCTYPE html>\n<!-- <meta charset=utf-8> --><meta charset="iso-8859-1">\n\xe9\nx\n'),
      '€',
      latin1('<!DOCTYPE html>\n<!-- <meta charset=utf-8> --><meta charset="iso-8859-1">\n\xe9\nx\n\x80\n'),
      {},
    ],
    [
      'an HTML content type',
      'a.htm',
      latin1("<html><META http-equiv='Content-Type' content='text/html; charset=windows-1251'>\n\xc6\nx\n"),
      'я',
      latin1("<html><META http-equiv='Content-Type' content='text/html; charset=windows-1251'>\n\xc6\nx\n\xff\n"),
      {},
    ],
    [
      'CSS',
      'a.css',
      latin1('@charset "iso-8859-1";\n/* \xe9 */\nx\n'),
      '/* ü */',
      latin1('@charset "iso-8859-1";\n/* \xe9 */\nx\n/* \xfc */\n'),
      {},
    ],
    [
      'a Vim modeline',
      'a.c',
      latin1('/* vim: set fileencoding=latin1 ts=2: */\n/* \xe9 */\nx\n'),
      'é',
      latin1('/* vim: set fileencoding=latin1 ts=2: */\n/* \xe9 */\nx\n\xe9\n'),
      {},
    ],
    [
      'Emacs',
      'a.el',
      latin1(';; -*- mode: lisp; coding: iso-latin-1-unix -*-\n\xe9\nx\n'),
      'é',
      latin1(';; -*- mode: lisp; coding: iso-latin-1-unix -*-\n\xe9\nx\n\xe9\n'),
      {},
    ],
    [
      '.editorconfig',
      'sub/a.txt',
      latin1('\xe9\nx\n'),
      'é',
      latin1('\xe9\nx\n\xe9\n'),
      { '.editorconfig': 'root = true\n[*.txt]\ncharset = latin1\n' },
    ],
    [
      '.gitattributes',
      'sub/a.txt',
      Buffer.from('82a00a780a', 'hex'),
      'い',
      Buffer.from('82a00a780a82a20a', 'hex'),
      { '.gitattributes': '*.txt text working-tree-encoding=Shift_JIS\n' },
    ],
    [
      '.gitattributes next to the file',
      'sub/a.txt',
      latin1('\xe9\nx\n'),
      'é',
      latin1('\xe9\nx\n\xe9\n'),
      {
        '.gitattributes': '*.txt working-tree-encoding=SJIS\n',
        'sub/.gitattributes': '*.txt working-tree-encoding=latin1\n',
      },
    ],
    [
      'a byte-order mark (little-endian)',
      'a.txt',
      utf16('\ufeffé\r\nx\r\n', 'utf-16le'),
      'ü€',
      utf16('\ufeffé\r\nx\r\nü€\r\n', 'utf-16le'),
      {},
    ],
    [
      'a byte-order mark (big-endian)',
      'a.txt',
      utf16('\ufeffé\nx\n', 'utf-16be'),
      'plain',
      utf16('\ufeffé\nx\nplain\n', 'utf-16be'),
      {},
    ],
    [
      '.editorconfig, for UTF-16 without a mark',
      'a.txt',
      utf16('a\nx\n', 'utf-16le'),
      'b',
      utf16('a\nx\nb\n', 'utf-16le'),
      { '.editorconfig': '[*]\ncharset = utf-16le\n' },
    ],
  ])('by %s', async (_, path, before, added, after, others) => {
    const patch = patchOf(path, ` x\n+${added}\n`)
    const { root, state } = await apply({ ...others, [path]: before }, patch)
    expect(readFileSync(join(root, path))).toEqual(after)
    await undo(root, { stateDirectory: state })
    expect(readFileSync(join(root, path))).toEqual(before)
  })

  test('context that is not ASCII is found in such a file', async () => {
    const before = latin1('# coding: latin1\nação = 1\nü = 2\nz = 3\n')
    const { root } = await apply({ 'a.py': before }, patchOf('a.py', ' ação = 1\n-ü = 2\n+ü = 20 # é\n'))
    expect(readFileSync(join(root, 'a.py'))).toEqual(latin1('# coding: latin1\nação = 1\nü = 20 # é\nz = 3\n'))
  })

  test('a byte-order mark stays when the first line changes', async () => {
    const { root } = await apply({ a: utf16('\ufeffone\ntwo', 'utf-16le') }, patchOf('a', '-one\n+1\n two\n'))
    expect(readFileSync(join(root, 'a'))).toEqual(utf16('\ufeff1\ntwo', 'utf-16le'))
  })

  test('a new file is written in the encoding that is declared for it', async () => {
    const files = { '.gitattributes': '*.sql working-tree-encoding=UTF-16LE\n*.txt working-tree-encoding=latin1\n' }
    const patch =
      '*** Begin Patch\n*** Add File: a.sql\n+x\n*** Add File: b.txt\n+é\n*** Add File: c.py\n+# coding: cp1252\n+€\n*** Add File: d\n+é\n*** End Patch\n'
    const { root } = await apply(files, patch)
    expect(readFileSync(join(root, 'a.sql'))).toEqual(utf16('x\n', 'utf-16le'))
    expect(readFileSync(join(root, 'b.txt'))).toEqual(latin1('é\n'))
    expect(readFileSync(join(root, 'c.py'))).toEqual(latin1('# coding: cp1252\n\x80\n'))
    expect(readFileSync(join(root, 'd'))).toEqual(Buffer.from('é\n'))
  })

  test('bytes of the file that another encoder would write differently stay as they are', async () => {
    // NEC's second code for "because" and its copy of an IBM character: both are read, and neither would be written.
    const before = Buffer.concat([latin1('# coding: sjis\n'), Buffer.from('879aed400a780a', 'hex')])
    const { root } = await apply({ 'a.py': before }, patchOf('a.py', ' x\n+あ\n'))
    expect(readFileSync(join(root, 'a.py'))).toEqual(Buffer.concat([before, Buffer.from('82a00a', 'hex')]))
  })
})

describe('text that is not ASCII is refused, strict or not, and nothing changes', () => {
  const added = ' x\n+ação\n'
  test.each<[why: string, path: string, content: Buffer, says: string, others?: Files]>([
    ['nothing says what the encoding is', 'a', latin1('// a\xe7\xe3o\nx\n'), 'nothing says what its encoding is'],
    [
      'the file says that it is UTF-8, and it is not',
      'a.py',
      latin1('# coding: utf-8\n\xe7\nx\n'),
      'its bytes are not',
    ],
    [
      '.editorconfig says that it is UTF-8, and it is not',
      'a',
      latin1('\xe7\nx\n'),
      'its bytes are not',
      { '.editorconfig': '[*]\ncharset=utf-8\n' },
    ],
    [
      'two declarations disagree',
      'a.py',
      latin1('# coding: latin1\n\xe7\nx\n'),
      'says koi8-r',
      { '.editorconfig': '[*]\ncharset=koi8-r\n' },
    ],
    [
      'the encoding has no such character',
      'a.py',
      latin1('# coding: koi8-r\n\xe7\nx\n'),
      '"ç" (U+00E7) is not in koi8-r',
    ],
    ['the encoding is ASCII', 'a.py', latin1('# coding: us-ascii\nx\n'), 'is not in us-ascii'],
    ['the encoding has states', 'a', latin1('\x1b$B$"\x1b(B\nx\n'), 'ISO-2022'],
    ['the encoding is not known to us', 'a.py', latin1('# coding: utf-7\nx\n'), "text can't be added in its encoding"],
    [
      'Shift_JIS is declared, but the bytes are not',
      'a.py',
      Buffer.from('# coding: sjis\n\xff\nx\n', 'latin1'),
      'its bytes are not',
    ],
    [
      'the only declaration is in an HTML comment',
      'a.html',
      latin1('<html><!-- <meta charset="latin1"> -->\n\xe7\nx\n'),
      'nothing says',
    ],
    [
      'the only declaration is the name of something else',
      'a.py',
      latin1('# coding: style\n\xe7\nx\n'),
      'nothing says',
    ],
    [
      'a nearer .gitattributes takes the declaration back',
      'sub/a',
      latin1('\xe7\nx\n'),
      'nothing says',
      { '.gitattributes': '* working-tree-encoding=latin1\n', 'sub/.gitattributes': 'a -working-tree-encoding\n' },
    ],
    [
      'the nearest .editorconfig is the root',
      'sub/a',
      latin1('\xe7\nx\n'),
      'nothing says',
      { '.editorconfig': '[*]\ncharset=latin1\n', 'sub/.editorconfig': 'root=true\n' },
    ],
  ])('if %s', async (_, path, content, says, others = {}) => {
    for (const mode of ['strict', 'lenient'] as const) {
      const message = await refused({ ...others, [path]: content }, patchOf(path, added), mode)
      expect(message).toContain(says)
      expect(message).toContain('Nothing was changed.')
    }
  })

  test('even ASCII, in UTF-16 that nothing declares, or in UTF-32', async () => {
    expect(await refused({ a: utf16('a\nx\n', 'utf-16le') }, patchOf('a', '+end\n'))).toMatch(
      /the line feeds of the file are half of .* as in UTF-16, and nothing says/,
    )
    const utf32 = Buffer.from('fffe0000610000000a000000', 'hex')
    expect(await refused({ a: utf32 }, patchOf('a', '+end\n'))).toContain('UTF-32')
  })
})

test('ASCII is still added to any file of which ASCII is a part', async () => {
  for (const content of [
    latin1('a\xe7\nx\n'),
    latin1('\x1b$B$"\x1b(B\nx\n'),
    latin1('# coding: utf-8\n\xe7\nx\n'),
    latin1('a\0b\nx\n'),
  ]) {
    const { root } = await apply({ a: content }, patchOf('a', ' x\n+y\n'))
    expect(readFileSync(join(root, 'a'))).toEqual(Buffer.concat([content, Buffer.from('y\n')]))
  }
})

test('a UTF-8 file stays UTF-8, with a warning if it says that it is something else', async () => {
  const plain = await apply({ a: 'é\nx\n', '.editorconfig': '[*]\ncharset = utf-8\n' }, patchOf('a', ' x\n+ü\n'))
  expect(readFileSync(join(plain.root, 'a'), 'utf8')).toBe('é\nx\nü\n')
  expect(plain.report.warnings).toEqual([])
  const odd = await apply({ 'a.py': '# coding: latin1\né\nx\n' }, patchOf('a.py', ' x\n+ü\n'))
  expect(readFileSync(join(odd.root, 'a.py'), 'utf8')).toBe('# coding: latin1\né\nx\nü\n')
  expect(odd.report.warnings).toMatchObject([{ code: 'encoding-doubtful', path: 'a.py', patchLine: 5 }])
})

describe('a patch that changes what a file says about its encoding', () => {
  test('adds text to an ASCII file in the encoding that the file then declares', async () => {
    const added = await apply({ 'a.py': 'x\n' }, patchOf('a.py', '+# coding: latin-1\n-x\n+é\n'))
    expect(readFileSync(join(added.root, 'a.py'))).toEqual(latin1('# coding: latin-1\né\n'))
    const removed = await apply({ 'a.py': '# coding: latin-1\nx\n' }, patchOf('a.py', '-# coding: latin-1\n-x\n+é\n'))
    expect(readFileSync(join(removed.root, 'a.py'), 'utf8')).toBe('é\n')
    const change = '-<?xml version="1.0"?>\n+<?xml version="1.0" encoding="sjis"?>\n-<a/>\n+<a>あ</a>\n'
    const changed = await apply({ 'a.xml': '<?xml version="1.0"?>\n<a/>\n' }, patchOf('a.xml', change))
    expect(readFileSync(join(changed.root, 'a.xml'))).toEqual(
      latin1('<?xml version="1.0" encoding="sjis"?>\n<a>\x82\xa0</a>\n'),
    )
    expect([added, removed, changed].flatMap(({ report }) => report.warnings)).toEqual([])
    expect(await refused({ 'a.py': 'x\n' }, patchOf('a.py', '+# coding: latin-1\n-x\n+€\n'))).toContain('U+20AC')
  })

  test.each([
    ['UTF-8', latin1('# coding: latin-1\n\xe9\nx\n'), '# coding: utf-8', 'the comment in line 1 says utf-8'],
    ['another', latin1('# coding: latin-1\n\xe9\nx\n'), '# coding: cp1251', ', but its bytes are latin-1'],
    ['nothing', latin1('# coding: latin-1\n\xe9\nx\n'), '#', 'nothing says any longer that it is latin-1'],
    ['not UTF-8', Buffer.from('# coding: utf-8\né\nx\n'), '# coding: latin-1', 'but its bytes are UTF-8'],
  ])('to %s, which its bytes are not, is told', async (_, before, line, told) => {
    const first = before.toString('latin1').split('\n')[0] ?? ''
    const { root, report } = await apply({ 'a.py': before }, patchOf('a.py', `-${first}\n+${line}\n`))
    expect(readFileSync(join(root, 'a.py'))).toEqual(
      Buffer.concat([Buffer.from(line), before.subarray(before.indexOf(10))]),
    )
    expect(report.warnings).toMatchObject([
      { code: 'encoding-doubtful', path: 'a.py', message: expect.stringContaining(told) as string },
    ])
  })

  test('to what its bytes are needs no word', async () => {
    for (const [before, line] of [
      [latin1('#\n\xe9\nx\n'), '# coding: latin-1'],
      [Buffer.from('# coding: latin-1\né\nx\n'), '# coding: utf-8'],
      [Buffer.from('# coding: utf-8\né\nx\n'), '#'],
    ] as const) {
      const first = before.toString('latin1').split('\n')[0] ?? ''
      const { report } = await apply({ 'a.py': before }, patchOf('a.py', `-${first}\n+${line}\n`))
      expect(report.warnings).toEqual([])
    }
  })

  test('is noticed at the beginning and at the end of a long file', async () => {
    const middle = 'é = 1\n'.repeat(2000)
    const { report } = await apply(
      { 'a.c': `// one\n${middle}// two\n` },
      patchOf('a.c', ' // two\n+// vim: fenc=latin1\n'),
    )
    expect(report.warnings).toMatchObject([{ code: 'encoding-doubtful', path: 'a.c' }])
  })
})

test('law: a patch of a file in a declared encoding gives what the patch of its text gives, encoded', async () => {
  const words: Readonly<Record<string, string>> = {
    shift_jis: '表日あア',
    'koi8-r': 'Жяёщ',
    'utf-16le': 'é日😀ß',
    'utf-16be': 'é日😀ß',
    big5: '中十文一',
    'windows-1252': '€é’ß',
    gb18030: '中文国',
  }
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '0', '1', '2'), maxLength: 4 })
  const file = fc.tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(words)),
      file,
      fc.array(line, { maxLength: 12 }),
      async (label, [lines, end, isOpen], others) => {
        const encoding = findEncoding(label, false)
        if (typeof encoding === 'string') throw new Error(label)
        const foreign = (text: string): string =>
          text.replace(/[012]/g, (digit) => [...(words[label] ?? '')][Number(digit)] ?? digit)
        const encode = (text: string): Buffer => {
          const bytes = encodeText(text, encoding)
          if ('missing' in bytes) throw new Error(bytes.missing)
          return bytes
        }
        const mark = encoding.unit === 2 ? '\ufeff' : ''
        const before = mark + lines.map((one) => foreign(one) + end).join('') + (isOpen ? 'end' : '')
        const after =
          mark +
          [...lines.slice(0, others.length % 5), ...others, ...lines.slice(others.length % 3)]
            .map((one) => foreign(one) + end)
            .join('') +
          (isOpen ? 'end' : '')
        const patch = await diffToPatch([{ path: 'f', before: Buffer.from(before), after: Buffer.from(after) }])
        if (patch.operations.length === 0) return
        // A file that is UTF-8 by chance is read as UTF-8.
        if (isUtf8(encode(before)) && !encode(before).equals(Buffer.from(before))) return
        const text = formatPatch(patch)
        const plain = await apply({ f: before }, text, 'lenient')
        const files = { f: encode(before), '.gitattributes': `f working-tree-encoding=${label}\n` }
        const encoded = await apply(files, text, 'lenient')
        expect(readFileSync(join(encoded.root, 'f'))).toEqual(encode(readFileSync(join(plain.root, 'f'), 'utf8')))
        await undo(encoded.root, { stateDirectory: encoded.state })
        expect(readFileSync(join(encoded.root, 'f'))).toEqual(files.f)
      },
    ),
    { numRuns: 150 },
  )
})

test('a file is added in a directory that takes the place of a file', async () => {
  const patch = '*** Begin Patch\n*** Delete File: f\n*** Add File: f/inner\n+é\n*** End Patch\n'
  const { root } = await apply({ f: 'x\n' }, patch)
  expect(readFileSync(join(root, 'f/inner'), 'utf8')).toBe('é\n')
})
