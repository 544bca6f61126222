import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import type { SandboxPolicyInput } from '../../../sandbox/index.ts'
import { openFor, testInBubblewrap as test } from '../../sandbox/helpers.ts'
import { openPath, type ObservedPath } from '../../support/call-path.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Opened = ObservedPath & { readonly workspace: string }

async function open(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  policy: Partial<SandboxPolicyInput> = {},
  outputs?: string,
  workspace = tempDir(),
): Promise<Opened> {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(workspace, path, '..'), { recursive: true })
    writeFileSync(join(workspace, path), content)
  }
  const sandbox = await openFor({
    mode: 'workspace-write',
    workspace,
    readableRoots: [dirname(process.execPath)],
    ...policy,
  })
  return {
    ...(await openPath({ tools: builtInTools, sandbox, ...(outputs === undefined ? {} : { outputs }) })),
    workspace,
  }
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('read_file', () => {
  test('shows lines with their numbers, and says how to continue', async () => {
    const { call } = await open({ 'a.txt': 'one\ntwo\nthree\n' })
    expect(await call('read_file', { path: 'a.txt' })).toEqual({
      ok: true,
      output: '     1\tone\n     2\ttwo\n     3\tthree',
    })
    expect(await call('read_file', { path: 'a.txt', offset: 2, limit: 1 })).toEqual({
      ok: true,
      output: '     2\ttwo\n[more lines: 1; continue with offset 3]',
    })
    expect(await call('read_file', { path: 'a.txt', offset: 9 })).toMatchObject({ ok: false })
  })

  test('shows a picture as one', async () => {
    const { call, workspace } = await open({ 'a.png': png })
    for (const name of ['read_file', 'view_image']) {
      expect(await call(name, { path: join(workspace, 'a.png') })).toMatchObject({
        ok: true,
        images: [{ mediaType: 'image/png', data: png.toString('base64') }],
      })
    }
  })

  test('reports a file that is binary, empty, missing, a directory or a pipe', async () => {
    const { call, workspace } = await open({ 'a.bin': Uint8Array.of(1, 0, 2), 'empty.txt': '' })
    execFileSync('mkfifo', [join(workspace, 'pipe')])
    const said = async (path: string): Promise<string> => (await call('read_file', { path })).output
    expect(await said('a.bin')).toContain('binary, 3 bytes')
    expect(await said('empty.txt')).toContain('is empty')
    expect(await said('gone.txt')).toContain("doesn't exist")
    expect(await said('.')).toContain('is a directory')
    expect(await said('pipe')).toContain('is not a regular file')
    expect(await call('view_image', { path: 'a.bin' })).toMatchObject({ ok: false })
  })

  test('shows the text of a PDF', async () => {
    const { call } = await open({ 'a.pdf': pdf('Hello, reader') })
    expect((await call('read_file', { path: 'a.pdf' })).output).toBe('[page 1 of 1]\nHello, reader')
  })

  test('shows the cells of a notebook, and edit_notebook changes one cell and leaves the others as they are', async () => {
    const { call, workspace } = await open({ 'a.ipynb': notebook })
    expect((await call('read_file', { path: 'a.ipynb' })).output).toBe(
      '[cell 1: markdown id=one]\n# Title\n\n[cell 2: code id=two]\nprint(1)\nprint(2)\n[output]\n1\n2',
    )
    await call('edit_notebook', { path: 'a.ipynb', mode: 'replace', cell: 'two', source: 'print(3)' })
    await call('edit_notebook', { path: 'a.ipynb', mode: 'insert', cell: 0, source: 'first', cell_type: 'markdown' })
    await call('edit_notebook', { path: 'a.ipynb', mode: 'delete', cell: 2 })
    const document: unknown = JSON.parse(readFileSync(join(workspace, 'a.ipynb'), 'utf8'))
    expect(document).toEqual({
      cells: [
        { cell_type: 'markdown', id: 'cell-3', metadata: {}, source: ['first'] },
        {
          cell_type: 'code',
          id: 'two',
          metadata: { tags: ['x'] },
          execution_count: null,
          outputs: [],
          source: ['print(3)'],
        },
      ],
      metadata: { kernelspec: { name: 'python3' } },
      nbformat: 4,
      nbformat_minor: 5,
    })
    expect(await call('edit_notebook', { path: 'a.ipynb', mode: 'delete', cell: 9 })).toMatchObject({
      ok: false,
      output: expect.stringContaining('there is no cell 9; the notebook has 2 cells'),
    })
  })
})

describe('write_file', () => {
  test('creates a file and its directories, as a file change', async () => {
    const { call, events, workspace } = await open()
    expect(await call('write_file', { path: 'src/a.txt', content: 'one\r\ntwo' })).toMatchObject({ ok: true })
    expect(readFileSync(join(workspace, 'src/a.txt'), 'utf8')).toBe('one\r\ntwo')
    expect(events.at(-1)).toMatchObject({
      item: {
        type: 'file_change',
        status: 'completed',
        changes: [{ path: join(workspace, 'src/a.txt'), kind: 'add' }],
      },
    })
  })

  test('replaces only a file that was read and has not changed since, and keeps its mode', async () => {
    const { call, workspace } = await open({ 'a.sh': 'old\n' })
    const file = join(workspace, 'a.sh')
    chmodSync(file, 0o755)
    const write = (content: string): ReturnType<typeof call> => call('write_file', { path: 'a.sh', content })
    expect((await write('new\n')).output).toContain('you have not read it')
    await call('read_file', { path: 'a.sh' })
    writeFileSync(file, 'somebody else\n')
    expect((await write('new\n')).output).toContain('has changed since you read it')
    await call('read_file', { path: 'a.sh' })
    expect(await write('new\n')).toMatchObject({ ok: true })
    expect(await write('newer\n')).toMatchObject({ ok: true })
    expect(readFileSync(file, 'utf8')).toBe('newer\n')
    expect(statSync(file).mode & 0o777).toBe(0o755)
  })
})

describe('edit_file', () => {
  const edit = (old_string: string, new_string: string): object => ({ path: 'a.txt', old_string, new_string })

  test('replaces a text that occurs once, and shows the place', async () => {
    const { call, workspace } = await open({ 'a.txt': 'one\ntwo\nthree\n' })
    expect(await call('edit_file', edit('two', '2'))).toEqual({
      ok: true,
      output: `Replaced once in ${workspace}/a.txt, at line 2:\n     1\tone\n     2\t2\n     3\tthree\n     4\t`,
    })
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\n2\nthree\n')
  })

  test('keeps CRLF, a byte-order mark and a missing final newline', async () => {
    const { call, workspace } = await open({ 'a.txt': '\ufeffone\r\ntwo\r\nthree' })
    expect(await call('edit_file', edit('one\ntwo', '1\n2'))).toMatchObject({ ok: true })
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('\ufeff1\r\n2\r\nthree')
  })

  test('refuses a text that occurs more than once, names the lines, and replaces all on request', async () => {
    const { call, workspace } = await open({ 'a.txt': 'x\ny\nx\n' })
    expect((await call('edit_file', edit('x', 'z'))).output).toContain('occurs 2 times, at lines 1, 3')
    expect(await call('edit_file', { ...edit('x', '$&'), replace_all: true })).toMatchObject({ ok: true })
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('$&\ny\n$&\n')
  })

  test('shows the closest match of a missing text, and whether only white space differs', async () => {
    const { call } = await open({ 'a.txt': 'function one() {\n\treturn 1\n}\n' })
    const spaced = await call('edit_file', edit('function one() {\n  return 1\n}', 'x'))
    expect(spaced.output).toContain(
      'at line 1. It differs only in white space. The file has:\n     1\tfunction one() {',
    )
    const other = await call('edit_file', edit('  return 2', 'x'))
    expect(other.output).toContain('at line 2. It differs. The file has:\n     2\t\treturn 1')
    expect((await call('edit_file', edit('nowhere at all', 'x'))).output).toContain('nor is anything similar')
  })

  test('refuses a file that changed since it was read, but not after our own changes', async () => {
    const { call, workspace } = await open({ 'a.txt': 'one\ntwo\n' })
    await call('read_file', { path: 'a.txt' })
    const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch\n'
    await call('apply_patch', { input: patch })
    expect(await call('edit_file', edit('two', '2'))).toMatchObject({ ok: true })
    writeFileSync(join(workspace, 'a.txt'), 'somebody else\n')
    expect((await call('edit_file', edit('else', 'x'))).output).toContain('has changed since you read it')
  })
})

describe('glob', () => {
  test('finds by name or by path, the most recently changed first, without what git ignores', async () => {
    const { call, workspace } = await open(
      {
        'old.ts': '',
        'src/new.ts': '',
        'src/deep/a.js': '',
        'dist/out.ts': '',
        '.gitignore': 'dist\n',
      },
      {},
      undefined,
      tempDir(),
    )
    utimesSync(join(workspace, 'old.ts'), 1, 1)
    const found = async (pattern: string): Promise<string> => (await call('glob', { pattern })).output
    expect((await found('*.ts')).split('\n').toSorted()).toEqual(['dist/out.ts', 'old.ts', 'src/new.ts'])
    execFileSync('git', ['init', '-q', workspace])
    expect(await found('*.ts')).toBe('src/new.ts\nold.ts')
    expect(await found('src/**/*.js')).toBe('src/deep/a.js')
    expect(await found('*.py')).toBe('No file matches.')
  })
})

describe('grep', () => {
  const files = { 'a.txt': 'alpha\nBeta\nalphabet\n', 'src/b.txt': 'x\nbeta alpha\ny\n', 'c.bin': '\0alpha' }

  test('shows matching lines by file, with their numbers', async () => {
    const { call } = await open(files)
    expect((await call('grep', { pattern: 'alpha\\b' })).output).toBe(
      'a.txt\n     1\talpha\n\nsrc/b.txt\n     2\tbeta alpha',
    )
    expect(
      (await call('grep', { pattern: 'beta', ignore_case: true, glob: '*.txt', path: 'src', context: 1 })).output,
    ).toBe('src/b.txt\n     1\tx\n     2\tbeta alpha\n     3\ty')
    expect((await call('grep', { pattern: 'alpha', output: 'count' })).output).toBe('a.txt: 2\nsrc/b.txt: 1')
    expect((await call('grep', { pattern: 'alpha', output: 'files' })).output).toBe('a.txt\nsrc/b.txt')
    expect((await call('grep', { pattern: 'x\\nbeta', multiline: true })).output).toContain('     1\tx\n     2\tbeta')
    expect((await call('grep', { pattern: 'alpha', limit: 1 })).output).toContain('[more matching lines: 2')
    expect((await call('grep', { pattern: 'nothing' })).output).toBe('No line matches.')
  })

  test('explains an invalid pattern', async () => {
    const { call } = await open(files)
    expect(await call('grep', { pattern: '(' })).toMatchObject({
      ok: false,
      output: expect.stringContaining('not a valid regular expression'),
    })
  })
})

test('file names are shown on one line each, whatever characters they contain', async () => {
  const name = 'a\n     7\tfake\u001b[2J\u202e\r.txt'
  const shown = 'a\\u{a}     7\\u{9}fake\\u{1b}[2J\\u{202e}\\u{d}.txt'
  const { call, workspace } = await open({ [name]: 'beta\n', 'b\nc/d.txt': 'x' })
  symlinkSync('absent', join(workspace, 'l\nink'))
  const output = async (tool: string, input: object): Promise<string> => (await call(tool, input)).output
  expect(await output('list_dir', {})).toBe(`${shown}  5 bytes\nb\\u{a}c/\nl\\u{a}ink  (a link)`)
  expect((await output('glob', { pattern: '*.txt' })).split('\n').toSorted()).toEqual([shown, 'b\\u{a}c/d.txt'])
  expect(await output('grep', { pattern: 'beta' })).toBe(`${shown}\n     1\tbeta`)
  expect(await output('grep', { pattern: 'beta', output: 'files' })).toBe(shown)
  expect(await output('grep', { pattern: 'beta', output: 'count' })).toBe(`${shown}: 1`)
  expect(await output('read_file', { path: 'no\nsuch' })).toBe(`${workspace}/no\\u{a}such doesn't exist.`)
})

describe('list_dir', () => {
  test('names existing files', async () => {
    const { call, workspace } = await open({ 'a.txt': 'one', 'src/b.txt': '' })
    symlinkSync('a.txt', join(workspace, 'link'))
    expect((await call('list_dir', {})).output).toBe('a.txt  3 bytes\nlink  (a link)\nsrc/')
  })
})

describe('no file tool bypasses the sandbox', () => {
  const secret = 'the secret text'

  test('places that a command must not write', async () => {
    const { call, workspace } = await open({ 'kept/a.txt': 'one\n' }, { protectedPaths: ['kept'] })
    await call('read_file', { path: 'kept/a.txt' })
    for (const [name, input] of [
      ['write_file', { path: 'kept/a.txt', content: 'two\n' }],
      ['write_file', { path: 'kept/b.txt', content: 'two\n' }],
      ['edit_file', { path: 'kept/a.txt', old_string: 'one', new_string: 'two' }],
      ['apply_patch', { input: '*** Begin Patch\n*** Update File: kept/a.txt\n@@\n-one\n+two\n*** End Patch\n' }],
      ['exec_command', { cmd: 'echo two > kept/a.txt' }],
    ] as const) {
      expect(await call(name, input), name).toMatchObject({ ok: false })
    }
    expect(readFileSync(join(workspace, 'kept/a.txt'), 'utf8')).toBe('one\n')
    expect(existsSync(join(workspace, 'kept/b.txt'))).toBe(false)
  })

  test('files that the Guardian’s rules protect', async () => {
    const { call } = await open({ '.env': `KEY=${secret}`, 'a.txt': 'KEY=none' })
    expect(await call('read_file', { path: '.env' })).toMatchObject({ ok: false })
    const found = await call('grep', { pattern: 'KEY' })
    expect(found.output).toBe('a.txt\n     1\tKEY=none\n(1 file is not shown, because reading it is not allowed.)')
  })
})

test('a shortened output can be read further, although no command could read it', async () => {
  const state = tempDir()
  const { call, kept } = await open({}, { deniedReads: [state] }, state)
  const cut = await call('exec_command', { cmd: 'seq 1 100000' })
  const [, file = ''] = /the whole output is in (\S+) \(to read on, call read_file/.exec(cut.output) ?? []
  expect(kept).toHaveLength(1)
  expect(await call('read_file', { path: file, offset: 50_000, limit: 1 })).toMatchObject({
    ok: true,
    output: expect.stringMatching(/^ *50000\t50000\n/),
  })
  expect(await call('exec_command', { cmd: `cat ${file}` })).toMatchObject({ ok: false })
})

test('if the helper that reads files ends, the next call starts another', async () => {
  const { call, path } = await open({ 'a.txt': 'one\n' })
  await call('read_file', { path: 'a.txt' })
  path.context.state.files.close()
  expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ ok: true })
})

test('a command still trusts files that the host made while the helper runs', async () => {
  const { call, workspace } = await open({ 'a.txt': 'one\n' })
  await call('read_file', { path: 'a.txt' })
  execFileSync('git', ['init', '-q', join(workspace, 'made')])
  writeFileSync(join(workspace, 'made/.git/hooks/pre-commit'), '#!/bin/sh\n')
  expect(await call('exec_command', { cmd: 'echo x > made/file; ls made/.git/hooks/pre-commit' })).toMatchObject({
    ok: true,
  })
  expect(existsSync(join(workspace, 'made/.git/hooks/pre-commit'))).toBe(true)
})

const notebook = `${JSON.stringify(
  {
    cells: [
      { cell_type: 'markdown', id: 'one', metadata: {}, source: '# Title' },
      {
        cell_type: 'code',
        id: 'two',
        metadata: { tags: ['x'] },
        execution_count: 7,
        outputs: [{ output_type: 'stream', name: 'stdout', text: ['1\n', '2\n'] }],
        source: ['print(1)\n', 'print(2)'],
      },
    ],
    metadata: { kernelspec: { name: 'python3' } },
    nbformat: 4,
    nbformat_minor: 5,
  },
  null,
  1,
)}\n`

/** A PDF of one page that contains this line. */
function pdf(line: string): string {
  const stream = `BT /F1 12 Tf 10 100 Td (${line}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return String(offset).padStart(10, '0')
  })
  const table = offsets.map((offset) => `${offset} 00000 n \n`).join('')
  return `${text}xref\n0 6\n0000000000 65535 f \n${table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
}
