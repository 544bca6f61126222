import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, expect } from 'vitest'
import { grep } from '../../../engine/tools/find-files.ts'
import { openFor, testInBubblewrap as test } from '../../sandbox/helpers.ts'
import { openPath, type ObservedPath } from '../../support/call-path.ts'
import { needsPrograms } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

/** A repository that is hard to search: with odd names, hidden, ignored and binary files, long lines, and several encodings and line endings. */
function tree(): string {
  const plain = Array.from({ length: 150 }, (_, at) => [
    `src/dir ${at % 7}/file-${at}.ts`,
    `export const value${at} = ${at}\nfunction run${at % 5}(colour: string) {\n  return 'größe'\n}\n`,
  ])
  const cwd = repository({
    ...Object.fromEntries(plain),
    '.gitignore': 'ignored/\n*.log\n!kept.log\n',
    'ignored/a.ts': 'export const hidden = 1\n',
    'a.log': 'export const logged = 1\n',
    'kept.log': 'export const kept = 1\n',
    '.hidden/b.ts': 'export const below = 1\n',
    '.dotfile': 'export const dot = 1\n',
    '-starts-with-a-dash.ts': 'export const dashed = 1\n',
    'crlf.txt': 'export const one = 1\r\nexport const two = 2\r\n',
    'old-mac.txt': 'export const one = 1\rexport const two = 2\r',
    'no-end.txt': 'export const last',
    'empty.txt': '',
    'long.txt': `${'x'.repeat(500_000)}export const far${'y'.repeat(500_000)}\nshort\n`,
    'case.txt': 'EXPORT CONST LOUD\nExport Const Title\n',
    'bom.txt': '\ufeffexport const marked = 1\n',
    'deleted.txt': 'export const gone = 1\n',
  })
  const bytes = (name: string, content: Uint8Array): void => writeFileSync(join(cwd, name), content)
  bytes('binary.bin', Buffer.from('export const bin\0export'))
  bytes('late.bin', Buffer.concat([Buffer.from('export const late\n'), Buffer.alloc(9000, 'z'), Buffer.of(0)]))
  bytes('utf16.txt', Buffer.from('\ufeffexport const wide\n', 'utf16le'))
  bytes('latin1.txt', Buffer.from('export const größe\n', 'latin1'))
  bytes('line\nbreak.ts', Buffer.from('export const broken = 1\n'))
  symlinkSync('crlf.txt', join(cwd, 'link.txt'))
  execFileSync('git', ['-C', cwd, 'add', '.'])
  rmSync(join(cwd, 'deleted.txt'))
  return cwd
}

/** Opens the grep tool in a workspace, with only these programs on the PATH. */
async function open(workspace: string, programs: Readonly<Record<string, string>>): Promise<ObservedPath> {
  const path = tempDir()
  for (const [name, target] of Object.entries(programs)) {
    if (target.startsWith('/')) symlinkSync(target, join(path, name))
    else writeFileSync(join(path, name), target, { mode: 0o755 })
  }
  const sandbox = await openFor({
    mode: 'workspace-write',
    workspace,
    readableRoots: [path, dirname(process.execPath)],
    environment: { set: { PATH: path } },
  })
  return openPath({ tools: [grep], sandbox })
}

const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()

const searches: readonly object[] = [
  { pattern: 'export const' },
  { pattern: 'EXPORT', ignore_case: true },
  { pattern: 'export const \\w+ = 1\\d$' },
  { pattern: '^export const (one|two)', output: 'count' },
  { pattern: 'colou?r: string\\)' },
  { pattern: 'größe', output: 'files' },
  { pattern: 'GRÖSSE|GRÖßE', ignore_case: true, output: 'files' },
  { pattern: 'const far' },
  { pattern: 'run3.*\\n.*größe', multiline: true, output: 'count' },
  { pattern: 'value7 = 7', context: 2 },
  { pattern: 'export const', glob: '*.txt' },
  { pattern: 'export const', path: 'src/dir 3', limit: 5 },
  { pattern: 'nothing like it' },
  { pattern: '\\ufffd', output: 'files' },
  { pattern: '\ufeffexport', output: 'files' },
  { pattern: '.', output: 'count', glob: '*.log' },
]

describe.skipIf(needsPrograms('rg'))('grep with ripgrep and without', () => {
  test('finds the same matches in the same order', async () => {
    const cwd = tree()
    const rg = execFileSync('sh', ['-c', 'command -v rg'], { encoding: 'utf8' }).trim()
    const [using, without] = [await open(cwd, { git, rg }), await open(cwd, { git })]
    for (const input of searches) {
      expect([input, await using.call('grep', input)]).toEqual([input, await without.call('grep', input)])
    }
  })
})

describe('grep with a program rg', () => {
  test('uses it if there are many files', async () => {
    const cwd = tree()
    const { call } = await open(cwd, { git, rg: '#!/bin/sh\nexit 1\n' })
    expect(await call('grep', { pattern: 'export const' })).toMatchObject({ output: 'No line matches.' })
    expect((await call('grep', { pattern: 'export const', path: '.hidden' })).output).toContain('below')
  })

  test('works without it if it fails', async () => {
    const cwd = tree()
    const { call } = await open(cwd, { git, rg: '#!/bin/sh\nexit 2\n' })
    expect((await call('grep', { pattern: 'const kept' })).output).toContain('kept.log')
  })

  test('ignores its configuration', async () => {
    const cwd = tree()
    mkdirSync(join(cwd, 'home'))
    const { call } = await open(cwd, {
      git,
      rg: '#!/bin/sh\ncase " $* " in *" --no-config "*) printf "./kept.log\\0";; *) exit 1;; esac\n',
    })
    expect(await call('grep', { pattern: 'export const', output: 'files' })).toMatchObject({ output: 'kept.log' })
  })
})
