import { expect, test } from 'vitest'
import { parseDiff } from '../../../engine/review/parse-diff.ts'
import { weakerTests } from '../../../engine/review/weaker-tests.ts'

const diffOf = (path: string, ...lines: readonly string[]): string => {
  const count = (mark: string): number => lines.filter((line) => line.startsWith(' ') || line.startsWith(mark)).length
  return `--- a/${path}\n+++ b/${path}\n@@ -1,${count('-')} +1,${count('+')} @@\n${lines.join('\n')}\n`
}

const found = (diff: string): readonly string[] => {
  const files = parseDiff(diff)
  return typeof files === 'string' ? [files] : weakerTests(files).map(({ title, start_line: at }) => `${at}: ${title}`)
}

const [gone, off, fewer, runs] = [
  'A test is gone',
  'A test is skipped, expected to fail, or run alone',
  'Tests check less than before',
  'What runs the tests is changed',
]

test.each([
  [
    'a removed test',
    diffOf('a.test.js', ' x', "-test('adds', () => {", '-  assert.equal(add(1, 2), 3)', '-})', ' y'),
    2,
    gone,
  ],
  ['a removed method', diffOf('tests/test_a.py', ' x', '-    def test_adds(self):', '-        pass', ' y'), 2, gone],
  ['a removed function of go', diffOf('a_test.go', ' x', '-func TestAdd(t *testing.T) {', '-}', ' y'), 2, gone],
  ['a skipped test', diffOf('a.test.js', "-test('adds', () => {", "+test.skip('adds', () => {", ' })'), 1, off],
  ['a skip by an option', diffOf('test/a.js', ' x', "-test('adds', f)", "+test('adds', { skip: true }, f)"), 2, off],
  ['a marked test', diffOf('tests/test_a.py', ' x', '+@pytest.mark.xfail', ' def test_adds():'), 2, off],
  ['an ignored test', diffOf('tests/a.rs', ' #[test]', '+#[ignore]', ' fn adds() {'), 2, off],
  ['a skip in go', diffOf('a_test.go', ' func TestAdd(t *testing.T) {', '+	t.Skip()'), 2, off],
  ['a removed expectation', diffOf('a.test.js', ' x', '-  expect(add(1, 2)).toBe(3)', '+  add(1, 2)', ' y'), 2, fewer],
  ['a script that tests', diffOf('package.json', ' {', '-  "test": "vitest run"', '+  "test": "true"', ' }'), 2, runs],
  ['a makefile', diffOf('Makefile', ' test:', '-	go test ./...', '+	true'), 2, runs],
])('%s is found from a diff', (_, diff, line, title) => {
  expect(found(diff)).toEqual([`${line}: ${title}`])
})

test('tests that move, or are added or corrected, and sources are not found', () => {
  const moved = `${diffOf('a.test.js', ' x', "-test('adds', () => {", ' y')}${diffOf('b.test.js', ' x', "+test('adds', () => {", ' y')}`
  const corrected = diffOf('a.test.js', '-  expect(add(1, 2)).toBe(3)', '+  expect(add(1, 2)).toBe(4)')
  const source = diffOf('src/a.js', "-test('adds', () => {", '+skip: true', '+x.skip()')
  const manifest = diffOf('package.json', '-  "version": "1"', '+  "version": "2"')
  const comment = diffOf('a.test.js', ' x', '+// test.skip was here')
  expect([moved, corrected, source, manifest, comment].flatMap(found)).toEqual([])
})

test('a deleted file of tests is found with its names', () => {
  const diff =
    "diff --git a/a.test.js b/a.test.js\ndeleted file mode 100644\n--- a/a.test.js\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-test('adds', f)\n-test('doubles', f)\n"
  const files = parseDiff(diff)
  expect(typeof files === 'string' ? [] : weakerTests(files)).toMatchObject([
    { path: 'a.test.js', start_line: 1, title: '2 tests are gone', body: expect.stringContaining('`adds`, `doubles`') },
  ])
})
