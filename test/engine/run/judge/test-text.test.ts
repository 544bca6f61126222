import { expect, test } from 'vitest'
import { checksLess, countChecks, isCaseOf } from '../../../../engine/run/judge/test-text.ts'

test.each([
  'assert add(1, 2) == 3',
  'assert (\n    add(1, 2) == 3\n)',
  'self.assertEqual(add(1, 2), 3)',
  'spy.assert_called_once_with(1)',
  'with pytest.raises(ValueError):',
  'assert.equal(add(1, 2), 3)',
  't.assert.equal(add(1, 2), 3)',
  'await expect(add(1, 2)).rejects.toThrow()',
  'expect(\n  add(1, 2),\n).toBe(3)',
  'expect(',
  'add(1, 2).should.equal(3)',
  'assert_eq!(add(1, 2), 3);',
  '\tt.Fatalf("got %d", 1)',
  'require.Equal(t, got, 3)',
])('%j checks something', (text) => {
  expect(countChecks(text)).toBe(1)
})

test.each([
  'assert True',
  'self.assertTrue(True)',
  'assert.ok(true)',
  'expect(true).toBe(true)',
  'assert!(true);',
  '// assert.equal(add(1, 2), 3)',
  'total = 1  # assert add(1, 2) == 3',
  '"""It should. be so"""',
  "log('assert add(1)')",
  "@mark.parametrize('a', expect(b))",
  'const expected = add(1, 2)',
  "const { add } = require('./add.js')",
  'console.error(add(1, 2))',
])('%j checks nothing', (text) => {
  expect(countChecks(text)).toBe(0)
})

const bodies = (before: string, after: string) => checksLess({ head: '', body: before }, { head: '', body: after })

test('a test checks less if it asserts less, or, where it asserts nothing by name, if it compares less', () => {
  const setUp = ['with folder():\nmkdir(a)\nassert add(1) == 2', 'a = make()\nassert add(1) == 2'] as const
  expect(bodies(...setUp)).toBe(false)
  expect(bodies('assert add(1) == 2', 'add(1)')).toBe(true)
  expect(bodies('assert add(1) == 2', 'assert True')).toBe(true)
  expect(bodies('mustBe(add(1), 2)', 'add(1)')).toBe(true)
  expect(bodies('equal(\n  add(1),\n  2,\n);', 'add(1);')).toBe(true)
  expect(bodies('with open(a) as f:\nf.write(b)\nread(a)', 'a.write(b)\nread(a)')).toBe(false)
  expect(bodies('mustBe(add(1), 2)', 'mustBe(add(2), 3)')).toBe(false)
})

test('a case of a table differs from the test that it replaces only by names for values that its file contains', () => {
  const table = '@parametrize("text, n", [("1", 1), ("2", 2)])\ndef test_n(text, n):\n    assert parse(text) == n\n'
  const body = 'assert parse(text) == n'
  expect(isCaseOf('assert parse("2") == 2', body, table)).toBe(true)
  expect(isCaseOf('assert parse("3") == 3', body, table)).toBe(false)
  expect(isCaseOf('assert parse("2") == 2', 'assert parse(text) != n', table)).toBe(false)
  expect(isCaseOf('assert parse("2") == 2', 'assert True', table)).toBe(false)
})
