/** Mistakes of models that leave only one meaning: each is understood, and told. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { parsePatch, PatchError, planPatch, renderFailure } from '../../apply-patch/index.ts'

const base = mkdtempSync(join(tmpdir(), 'apply-patch-mistakes-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
let root = ''
beforeEach(() => {
  root = mkdtempSync(join(base, 'tree-'))
})

/** Plans a patch against files. Returns the new contents by path and the codes of notes, or the message. */
async function plan(
  files: Readonly<Record<string, string>>,
  text: string,
  mode: 'lenient' | 'strict' = 'lenient',
): Promise<unknown> {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  try {
    const { patch, repairs } = parsePatch(text, { mode })
    const { changes, warnings } = await planPatch(patch, { root, mode, ambiguous: 'refuse' })
    const contents = changes.map((change) => [
      change.place.path,
      change.type === 'write' ? Buffer.concat(change.content).toString() : null,
    ])
    return [Object.fromEntries(contents), [...repairs, ...warnings].map(({ code }) => code)]
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    return renderFailure(error)
  }
}

const patchOf = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')

describe('the headers of a diff below the header of the format', () => {
  const git = ['diff --git a/f b/f', 'index 1234567..89abcde 100644']
  const names = ['--- a/f', '+++ b/f']
  test.each([
    [[...git, ...names]],
    [names],
    [git],
    [['--- f', '+++ f\t2026-11-29']],
    [['--- a/f']],
    [['diff --git i/f w/f', '--- i/f', '+++ w/f']],
  ])('%j are ignored', async (headers) => {
    const text = patchOf('*** Update File: f', ...headers, '@@', '-b', '+B')
    expect(await plan({ f: 'a\nb\n' }, text)).toEqual([{ f: 'a\nB\n' }, ['git-header']])
    expect(await plan({ f: 'a\nb\n' }, text, 'strict')).toMatch(/^Invalid patch hunk|^Failed to find expected lines/)
  })
  test('are ignored in an added file, with its only chunk header', async () => {
    const headers = ['diff --git a/n b/n', 'new file mode 100644', '--- /dev/null', '+++ b/n', '@@ -0,0 +1 @@']
    expect(await plan({}, patchOf('*** Add File: n', ...headers, '+one'))).toEqual([{ n: 'one\n' }, ['git-header']])
  })
  test('are ignored if only the second name is there, which strict mode takes for an added line, as the grammar says', async () => {
    const text = patchOf('*** Update File: f', '+++ b/f', '@@', '-b', '+B')
    expect(await plan({ f: 'a\nb\n' }, text)).toEqual([{ f: 'a\nB\n' }, ['git-header']])
    expect(await plan({ f: 'a\nb\n' }, text, 'strict')).toEqual([{ f: 'a\nB\n++ b/f\n' }, []])
  })
  test('are ignored below a blank line, and if git quotes the path', async () => {
    const blank = patchOf('*** Update File: f', '', ...names, '@@', '-b', '+B')
    expect(await plan({ f: 'a\nb\n' }, blank)).toEqual([{ f: 'a\nB\n' }, ['git-header']])
    const quoted = ['diff --git "a/\\303\\274 x" "b/\\303\\274 x"', '--- "a/\\303\\274 x"', '+++ "b/\\303\\274 x"']
    const text = patchOf('*** Update File: ü x', ...quoted, '@@', '-b', '+B')
    expect(await plan({ 'ü x': 'a\nb\n' }, text)).toEqual([{ 'ü x': 'a\nB\n' }, ['git-header']])
  })
  test.each([[['--- /dev/null', '+++ b/n']], [['+++ b/n']], [['@@ -0,0 +1 @@']], [['@@']]])(
    '%j are ignored in an added file',
    async (headers) => {
      const text = patchOf('*** Add File: n', ...headers, '+one')
      expect(await plan({}, text)).toEqual([{ n: 'one\n' }, ['git-header']])
    },
  )
  test('are lines of an added file if they name another', async () => {
    expect(await plan({}, patchOf('*** Add File: n', '+++ b/m', '+one'))).toEqual([{ n: '++ b/m\none\n' }, []])
    expect(await plan({}, patchOf('*** Add File: n', '@@', ' one', '+two'))).toMatch("'@@' is not a valid hunk header")
  })
  test('are refused if they name another file', async () => {
    const refusal = async (...headers: readonly string[]): Promise<unknown> =>
      plan({ f: 'a\nb\n' }, patchOf('*** Update File: f', ...headers, '@@', '-b', '+B'))
    expect(await refusal('--- a/g', '+++ b/g')).toMatch(
      '-- a/g\n  f, hunk 1, chunk 1, patch line 3: its first lines may be',
    )
    expect(await refusal('+++ b/g')).toMatch('+++ b/g')
    expect(await refusal('diff --git a/g b/g')).toMatch('diff --git')
  })
  test('are lines of the file if they name another file and the file has them', async () => {
    const text = patchOf('*** Update File: f', '--- a/g', '+++ b/g', '@@', '-b', '+B')
    for (const mode of ['lenient', 'strict'] as const)
      expect(await plan({ f: '-- a/g\nb\n' }, text, mode)).toEqual([{ f: '++ b/g\nB\n' }, []])
  })
  test('are lines of the file if no chunk follows', async () => {
    const text = patchOf('*** Update File: f', '--- a/f', '+++ b/f', ' c')
    expect(await plan({ f: '-- a/f\nc\n' }, text)).toEqual([{ f: '++ b/f\nc\n' }, []])
  })
})

describe('the prefix of a diff before a path', () => {
  const update = ['*** Update File: a/src/f', '@@', '-b', '+B']
  test('is removed where only the file without it exists', async () => {
    expect(await plan({ 'src/f': 'b\n' }, patchOf(...update, '*** Add File: b/src/n', '+x'))).toEqual([
      { 'src/f': 'B\n', 'src/n': 'x\n' },
      ['diff-prefix', 'diff-prefix'],
    ])
  })
  test('is a folder where there is such a file, and in strict mode', async () => {
    expect(await plan({ 'src/f': 'b\n' }, patchOf(...update), 'strict')).toMatch('Failed to read file to update')
    expect(await plan({ 'a/src/f': 'b\n' }, patchOf(...update))).toEqual([{ 'a/src/f': 'B\n' }, []])
  })
  test('leads nowhere else, and a new file alone is only warned about', async () => {
    expect(await plan({ f: 'b\n' }, patchOf('*** Delete File: a/../../f'))).toMatch('Failed to delete file')
    expect(await plan({}, patchOf('*** Add File: a/n', '+x'))).toEqual([{ 'a/n': 'x\n' }, ['diff-prefix']])
  })
})

describe('a patch whose lines are all indented', () => {
  const patch = ['*** Update File: f', '@@', ' a', '-b', '+B', '']
  const indented = (...lines: readonly string[]): string =>
    lines.map((line) => (line === '' ? '' : `    ${line}`)).join('\n')
  test('is read without the indentation, with or without text around it', async () => {
    const text = indented('*** Begin Patch', ...patch, '*** End Patch')
    expect(await plan({ f: 'a\nb\n\n' }, text)).toEqual([{ f: 'a\nB\n\n' }, ['indented']])
    expect(await plan({ f: 'a\nb\n\n' }, `- so:\n\n${text}\n\nDone.\n`)).toMatchObject([
      { f: 'a\nB\n\n' },
      expect.arrayContaining(['indented']),
    ])
  })
  test('keeps its lines if one of them is not indented', async () => {
    expect(await plan({ f: ' a\n' }, patchOf(' *** Update File: f', '@@', '- a', '+b'))).toEqual([{ f: 'b\n' }, []])
  })
})

describe('lines of context without their space', () => {
  const file = 'def a():\n\tx\n\n    y = 2\n- z\n'
  test('are understood where all lines then fit one place', async () => {
    const after = file.replace('y = 2', 'y = 3')
    for (const context of [
      ['def a():', '\tx', ''],
      ['\tx', ''],
      [' def a():', '\tx', ''],
    ]) {
      const text = patchOf('*** Update File: f', '@@', ...context, '-    y = 2', '+    y = 3')
      expect(await plan({ f: file }, text)).toEqual([{ f: after }, ['unmarked-context']])
    }
    const spaces = patchOf('*** Update File: f', '@@', '    one', '-    two', '+    2', '    three')
    expect(await plan({ f: '    one\n    two\n    three\n' }, spaces)).toEqual([
      { f: '    one\n    2\n    three\n' },
      ['unmarked-context'],
    ])
  })
  test('are refused as malformed if they fit nowhere, or two places', async () => {
    const text = patchOf('*** Update File: f', '@@', 'p', '-q', '+r')
    expect(await plan({ f: 'q\n' }, text)).toMatch(/^Invalid patch hunk on line 4: Unexpected line found/)
    expect(await plan({ f: 'p\nq\np\nq\n' }, text)).toMatch(/^Invalid patch hunk on line 4/)
    expect(await plan({ f: 'p\nq\n' }, text, 'strict')).toMatch(/^Invalid patch hunk on line 4/)
  })
})

test('the message for a unified diff says what it is, and what to do', async () => {
  const diff = 'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n'
  for (const text of [diff, diff.slice(diff.indexOf('---')), `commit 0123\nAuthor: A\n\n    Change\n\n${diff}`])
    expect(await plan({ f: 'a\n' }, text)).toMatch(/this is a unified diff.*git apply/)
})
