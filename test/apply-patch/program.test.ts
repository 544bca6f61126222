import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fingerprint, makeCase, readTree, runProgram, type CaseFile } from './case-tools.ts'

const wrap = (body: string): string => `*** Begin Patch\n${body}*** End Patch\n`
const change = wrap('*** Update File: f.txt\n@@\n a\n-b\n+B\n')
const scene = (files: Readonly<Record<string, CaseFile>> = { 'f.txt': 'a\nb\nc\n' }): string => makeCase({ files }).cwd

describe('options', () => {
  test('--check says what would happen and changes nothing', () => {
    const cwd = scene()
    const before = fingerprint(cwd)
    expect(runProgram(cwd, change, { args: ['--check'] })).toEqual({
      status: 0,
      stdout: 'Would update the following files:\nM f.txt\n',
      stderr: '',
    })
    expect(fingerprint(cwd)).toEqual(before)
  })

  test('--diff prints a unified diff on stdout and the summary on stderr', () => {
    const run = runProgram(scene(), change, { args: ['--diff'] })
    expect(run.stdout).toBe('diff --git a/f.txt b/f.txt\n--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n')
    expect(run.stderr).toBe('Success. Updated the following files:\nM f.txt\n')
  })

  test('--json reports success as data, with repairs and warnings', () => {
    const input = `Here it is:\n${wrap('*** Update File: f.txt\n@@\n-x\n+y\n')}`
    const run = runProgram(scene({ 'f.txt': 'x\nx\n' }), input, { args: ['--json'] })
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: true,
      applied: true,
      summary: [{ kind: 'M', path: 'f.txt' }],
      repairs: [{ code: 'surrounding-text' }],
      warnings: [{ code: 'ambiguous-match', fileLines: [1, 2] }],
    })
    expect(run.stderr).toMatch(/repaired: .*\nwarning: .*lines 1, 2/)
  })

  test('--json reports failure as data', () => {
    const run = runProgram(scene(), wrap('*** Update File: f.txt\n@@\n-q\n+y\n*** Delete File: no\n'), {
      args: ['--json'],
    })
    expect(run.status).toBe(1)
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: false,
      applied: false,
      tree: 'unchanged',
      failures: [
        { code: 'lines-not-found', path: 'f.txt', hunk: 1, chunk: 1, patchLine: 3, expected: ['q'] },
        { code: 'delete', path: 'no', hunk: 2, reason: 'missing' },
      ],
    })
  })

  test('--root names the tree', () => {
    const cwd = scene({ 'sub/f.txt': 'a\nb\nc\n' })
    expect(runProgram(cwd, change, { args: ['--root', 'sub'] }).status).toBe(0)
    expect(readTree(cwd)).toEqual({ 'sub/f.txt': 'a\nB\nc\n' })
  })

  test('--reverse reverts an applied patch', () => {
    const cwd = scene()
    const before = fingerprint(cwd)
    const patch = wrap(
      '*** Update File: f.txt\n*** Move to: d/g.txt\n@@\n a\n-b\n+B\n@@\n+end\n*** Add File: n.txt\n+x\n',
    )
    expect(runProgram(cwd, patch).status).toBe(0)
    expect(readTree(cwd)).toEqual({ 'd/g.txt': 'a\nB\nc\nend\n', 'n.txt': 'x\n' })
    expect(runProgram(cwd, patch, { args: ['--reverse'] }).status).toBe(0)
    expect(readTree(cwd)['f.txt']).toBe('a\nb\nc\n')
    expect(fingerprint(cwd).filter((line) => line.startsWith('f.txt'))).toEqual(before)
  })

  test('--reverse refuses an operation whose old content is not in the patch', () => {
    const cwd = scene()
    const before = fingerprint(cwd)
    const run = runProgram(cwd, wrap('*** Delete File: f.txt\n'), { args: ['--reverse'] })
    expect([run.status, fingerprint(cwd)]).toEqual([1, before])
    expect(run.stderr).toContain('its old content is not in the patch')
  })

  test('undo reverts the last applied patch, byte for byte', () => {
    const cwd = scene({ 'f.txt': 'a\r\nb\r\nc' })
    const before = fingerprint(cwd)
    expect(runProgram(cwd, change).status).toBe(0)
    const run = runProgram(cwd, '', { args: ['undo'] })
    expect([run.status, fingerprint(cwd)]).toEqual([0, before])
  })

  test('undo refuses if the file has changed since', () => {
    const cwd = scene()
    runProgram(cwd, change)
    writeFileSync(join(cwd, 'f.txt'), 'mine\n')
    const run = runProgram(cwd, '', { args: ['undo'] })
    expect(run).toEqual({
      status: 1,
      stdout: '',
      stderr: [
        'Failed to revert the patch; these files were changed after it was applied: f.txt',
        '  f.txt: its content was changed since the patch was applied',
        '  Restore each file to the state in which the patch left it, or keep your change: "apply-patch --reverse < FILE" reverts the text of a patch (for a diff, "git apply --reverse FILE"), and keeps other changes.',
        'Nothing was changed.\n',
      ].join('\n'),
    })
    expect(readFileSync(join(cwd, 'f.txt'), 'utf8')).toBe('mine\n')
  })

  test('undo in a subdirectory says where the last patch was applied', () => {
    const cwd = scene({ 'f.txt': 'a\nb\nc\n', 'sub/deep/g.txt': 'g\n' })
    runProgram(cwd, change)
    const run = runProgram(join(cwd, 'sub/deep'), '', { args: ['undo'], state: join(cwd, '../state') })
    expect(run.status).toBe(1)
    expect(run.stderr).toBe(
      `There is no applied patch to revert in ${cwd}/sub/deep\n` +
        `  the last patch was applied to ${cwd}: apply-patch undo --root ${cwd}\nNothing was changed.\n`,
    )
    expect(runProgram(cwd, '', { args: ['undo', '--root', cwd] }).status).toBe(0)
  })

  test.each([
    ['--check', 'undo'],
    ['undo', '--check'],
    ['--reverse', 'undo'],
    ['recover', '--check'],
    ['recover', '--durable'],
  ])('%s %s is refused: a flag that means nothing there is not ignored', (...args) => {
    const cwd = scene()
    runProgram(cwd, wrap('*** Add File: n.txt\n+n\n'))
    const ended = runProgram(cwd, '', { args })
    expect(ended.status).toBe(2)
    expect(ended.stderr).toContain('has no option')
    expect(existsSync(join(cwd, 'n.txt'))).toBe(true)
  })

  test('recover with nothing to do says so', () => {
    expect(runProgram(scene(), '', { args: ['recover'] })).toEqual({
      status: 0,
      stdout: 'Nothing to recover.\n',
      stderr: '',
    })
  })

  test('recover abandons an unrecoverable run only on request', () => {
    const cwd = scene()
    runProgram(cwd, change)
    const state = join(cwd, '../state/portcullis/apply-patch')
    const [folder = ''] = readdirSync(state)
    writeFileSync(join(state, folder, 'failed-1'), 'no journal\n')
    for (const args of [[], ['recover']]) {
      const run = runProgram(cwd, args.length === 0 ? change : '', { args })
      expect(run.status).toBe(1)
      expect(run.stderr).toMatch(/^A crashed run can't be recovered: its journal is damaged\n/)
      expect(run.stderr).toContain('apply-patch recover --abandon')
    }
    const run = runProgram(cwd, '', { args: ['recover', '--abandon'] })
    expect(run).toEqual({ status: 0, stdout: 'abandoned: (its journal lists no files)\n', stderr: '' })
    expect(readTree(cwd)).toEqual({ 'f.txt': 'a\nB\nc\n' })
    expect(runProgram(cwd, '', { args: ['undo'] }).status).toBe(0)
  })

  test('the example in --help applies as it stands', () => {
    const help = runProgram(scene({}), '', { args: ['--help'] })
    expect(help.status).toBe(0)
    const example = /^ {2}\*\*\* Begin Patch\n[^]*?\*\*\* End Patch$/m.exec(help.stdout)?.[0] ?? ''
    const patch = example.replace(/^ {2}/gm, '')
    const cwd = scene({
      'src/app.py': 'def greet():\n    name = ask()\n    print("Hi")\n    return name\nmore\nlast line\n',
      'src/old_name.py': 'same\n',
      'src/unused.py': 'x\n',
    })
    const run = runProgram(cwd, patch, { args: ['--strict'] })
    expect([run.status, run.stderr]).toEqual([0, ''])
    expect(readTree(cwd)).toEqual({
      'docs/new.md': '# A title\n\nEach line of a new file has a + before it, even an empty line.\n',
      'src/app.py': 'def greet():\n    name = ask()\n    print("Hello")\n    return name\nmore\nnew last line\n',
      'src/new_name.py': 'same\n',
    })
  })

  test.each([
    [['--nonsense'], 2],
    [['--version'], 0],
    [['a', 'b'], 2],
    [['undo', 'extra', 'more'], 2],
    [['--root'], 2],
  ])('%j ends with code %i, without waiting for input', (args, status) => {
    const run = runProgram(scene(), '', { args })
    expect(run.status, run.stderr).toBe(status)
    expect(run.stdout + run.stderr).not.toMatch(/^\s+at /m)
  })
})

describe('an argument that is not a patch', () => {
  test('but a file gets advice on how to apply the file', () => {
    const cwd = scene({ 'my patch.txt': change })
    expect(runProgram(cwd, '', { args: ['my patch.txt'] })).toEqual({
      status: 1,
      stdout: '',
      stderr:
        "Invalid patch: The first line of the patch must be '*** Begin Patch'\n  found: my·patch.txt\n" +
        'Nothing was changed.\n  "my patch.txt" is a file; to apply its content: apply-patch < \'my patch.txt\'\n',
    })
  })

  test.each(['udno', 'Undo', 'recovr', 'hepl'])(
    'but almost the command %s gets the command as a suggestion',
    (word) => {
      expect(runProgram(scene(), '', { args: [word] }).stderr).toMatch(
        /did you mean: apply-patch (undo|recover|help)\n$/,
      )
    },
  )
})

test.each([
  ['missing/folder', 'there is no such directory'],
  ['f.txt', 'it is not a directory'],
])('--root %s is wrong usage, and says what was expected', (root, fault) => {
  for (const args of [
    ['--root', root],
    ['undo', '--root', root],
  ]) {
    const run = runProgram(scene(), change, { args })
    expect([run.status, run.stdout]).toEqual([2, ''])
    expect(run.stderr).toContain(`${fault}; expected an existing directory`)
  }
})

describe('strict mode', () => {
  test.each([
    ['an ambiguous match', { 'f.txt': 'x\nx\n' }, '*** Update File: f.txt\n@@\n-x\n+y\n', 'lines 1, 2'],
    ['an add over a file', { 'f.txt': 'x\n' }, '*** Add File: f.txt\n+y\n', 'exists already'],
    ['a move onto a file', { 'f.txt': 'x\n', g: 'g\n' }, '*** Update File: f.txt\n*** Move to: g\n', 'exists already'],
    [
      'a match but for indentation',
      { 'f.txt': '  x\n' },
      '*** Update File: f.txt\n@@\n-x\n+y\n',
      'only in indentation from line 1',
    ],
    [
      'a match but for punctuation',
      { 'f.txt': '“x”\n' },
      '*** Update File: f.txt\n@@\n-"x"\n+y\n',
      'only in typographic punctuation from line 1',
    ],
    ['a blank line between operations', { 'f.txt': 'x\n' }, '*** Delete File: f.txt\n\n', 'not a valid hunk header'],
  ])('refuses %s', (_, files, body, message) => {
    const cwd = scene(files)
    const before = fingerprint(cwd)
    const run = runProgram(cwd, wrap(body), { args: ['--strict'] })
    expect([run.status, fingerprint(cwd)]).toEqual([1, before])
    expect(run.stderr).toContain(message)
  })

  test('tolerates white space at the end of lines', () => {
    const cwd = scene({ 'f.txt': 'x  \n' })
    expect(runProgram(cwd, wrap('*** Update File: f.txt\n@@\n-x\n+y\n'), { args: ['--strict'] }).status).toBe(0)
  })
})

describe('a miss says what to do next', () => {
  const miss = (files: Readonly<Record<string, CaseFile>>, body: string): string => {
    const run = runProgram(scene(files), wrap(body))
    expect(run.status).toBe(1)
    return run.stderr
  }
  test.each([
    [
      'already applied',
      { f: 'a\nB\nc\n' },
      '*** Update File: f\n@@\n a\n-b\n+B\n c\n',
      'already applied? the new lines are in the file at line 1',
    ],
    [
      'out of order',
      { f: 'a\nb\na\nc\n' },
      '*** Update File: f\n@@\n-c\n+C\n@@\n-a\n+A\n',
      'found at line 1, above the previous chunk',
    ],
    [
      'above its own anchor',
      { f: 'a\nb\nc\n' },
      '*** Update File: f\n@@ c\n-a\n+A\n',
      'found at line 1, above the "@@" line of this chunk',
    ],
    [
      'spelt otherwise',
      { 'src/app.ts': 'a\n' },
      '*** Update File: src/ap.ts\n@@\n-a\n+b\n',
      'did you mean src/app.ts?',
    ],
    ['in another folder', { 'src/app.ts': 'a\n' }, '*** Delete File: app.ts\n', 'did you mean src/app.ts?'],
    [
      'deleted already',
      { f: 'a\n' },
      '*** Delete File: gone.txt\n',
      'if it was already removed, leave this operation out',
    ],
    [
      'deleted by the patch itself',
      { f: 'a\n' },
      '*** Delete File: f\n*** Update File: f\n@@\n-a\n+b\n',
      'the file no longer exists (hunk 1 deleted it)',
    ],
    [
      'moved by the patch itself',
      { f: 'a\n' },
      '*** Update File: f\n*** Move to: g\n*** Delete File: f\n',
      'the file no longer exists (hunk 1 moved it to g)',
    ],
    [
      'like nothing in the file',
      { f: 'a\n' },
      '*** Update File: f\n@@\n-zzzz\n+b\n',
      'nor similar ones; read it again',
    ],
    ['a name too long', { f: 'a\n' }, `*** Add File: ${'n'.repeat(300)}\n+a\n`, 'the path or a name in it is too long'],
    [
      'a context line without its space',
      { f: 'a\n' },
      '*** Update File: f\n@@\nb\n+c\n',
      "as context it would be ' b'",
    ],
    ['an added line without its plus', { f: 'a\n' }, '*** Add File: g\nhello\n', "every line starts with '+'"],
    ['a unified diff', { f: 'a\n' }, '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n', "'*** Update File: f'"],
    ['a header of another dialect', { f: 'a\n' }, '*** Modify File: f\n@@\n-a\n+b\n', "write '*** Update File: f'"],
    ['a rename in words', { f: 'a\n' }, '*** Rename File: f\n', "directly below it '*** Move to: {new path}'"],
    [
      'a late move',
      { f: 'a\n' },
      '*** Update File: f\n@@\n-a\n+b\n*** Move to: g\n',
      "directly below its '*** Update File:'",
    ],
    [
      'in another file',
      { f: 'a\n', g: 'q\n' },
      '*** Update File: f\n@@\n-q\n+Q\n*** Update File: g\n@@\n-q\n+Q\n',
      'not in this file, but in g at line 1',
    ],
    [
      'white space inside',
      { f: 'a\t=\t1\n' },
      '*** Update File: f\n@@\n-a = 1\n+z\n',
      'differs only in white space from line 1',
    ],
    ['case', { f: 'Hello\n' }, '*** Update File: f\n@@\n-hello\n+z\n', 'differs only in capitalization from line 1'],
    [
      'an anchor that is a part of a line',
      { f: 'def m(self):\n  x\n' },
      '*** Update File: f\n@@ m(self)\n-  x\n+  y\n',
      'write "@@ def m(self):"',
    ],
    ['UTF-16 that is cut off', { f: { base64: '//5hAAoAAA==' } }, '*** Update File: f\n@@\n-a\n+b\n', 'UTF-16'],
    ['an empty file', { f: '' }, '*** Update File: f\n@@\n-a\n+b\n', 'the file is empty'],
    [
      'not at the end',
      { f: 'a\nb\n' },
      '*** Update File: f\n@@\n-a\n+b\n*** End of File\n',
      'not at the end of the file',
    ],
    [
      'a swap that would lose a file',
      { f: 'a\n', g: 'b\n' },
      '*** Update File: f\n*** Move to: g\n*** Update File: g\n*** Move to: f\n',
      'the existing file would be lost',
    ],
  ])('%s', (_, files, body, message) => {
    expect(miss(files, body)).toContain(message)
  })

  test('shows the nearest lines and makes white space visible in the first that differs', () => {
    expect(
      miss(
        { f: 'one\nif x:\n\treturn 1\nend\n' },
        '*** Update File: f\n@@\n if x:\n-    return 2\n+    return 3\n end\n',
      ),
    ).toContain(
      [
        '  closest is at line 2:',
        '       2 | if x:',
        '       3 | \treturn 1',
        '       4 | end',
        '  first difference, line 3:',
        '    expected: ····return·2',
        '    found:    →return·1',
      ].join('\n'),
    )
  })

  test('of a long line shows the part that differs, and no terminal control sequences', () => {
    const [same, file] = ['x'.repeat(1000), `${'x'.repeat(1000)}\u001B[31mred\n`]
    const stderr = miss({ f: file }, `*** Update File: f\n@@\n-${same}blue\n+b\n`)
    expect(stderr).toContain(`    expected: …${'x'.repeat(80)}blue\n    found:    …${'x'.repeat(80)}<U+001B>[31mred\n`)
    expect(stderr).not.toContain('\u001B')
  })

  test('names all failures of all files at once', () => {
    const stderr = miss(
      { f: 'a\n' },
      '*** Delete File: x1\n*** Update File: f\n@@\n-q\n+Q\n@@ zz\n-r\n+R\n*** Update File: x2\n@@\n-a\n+b\n',
    )
    expect(stderr.match(/^Failed to .*/gm)?.map((line) => line.replace(/\/\S*\//, ''))).toEqual([
      'Failed to delete file x1',
      'Failed to find expected lines in f:',
      "Failed to find context 'zz' in f",
      'Failed to read file to update x2: No such file or directory (os error 2)',
    ])
  })
})

test('no files of the program are left in the tree', () => {
  const cwd = scene()
  runProgram(cwd, change)
  expect(Object.keys(readTree(cwd))).toEqual(['f.txt'])
  expect(existsSync(join(cwd, '.git'))).toBe(false)
})
