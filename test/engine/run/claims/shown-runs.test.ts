import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const failed: readonly Ran[] = [['mix test', 2, '143 tests, 2 failures']]
const missing: readonly Ran[] = [['bundle exec rspec', 127, 'bundler: command not found: rspec']]

const block = (...lines: readonly string[]): string => ['```', ...lines, '```'].join('\n')

describe('a block of code that shows a command and its output claims that the command printed it', () => {
  test.each<readonly [string, readonly Ran[]]>([
    [`Done.\n\n${block('$ mix test', '143 tests, 0 failures')}`, failed],
    [`The last run:\n\n${block('pytest -q', '31 passed in 2.10s')}`, [['pytest -q', 1, '1 failed, 30 passed']]],
    [`It is faster.\n\n${block('~/app $ npm test', '', '  76 passing (1s)')}`, [['ls', 0]]],
    [
      `Done.\n\n${block('$ go test ./...', 'ok  \texample.com/a\t0.02s')}`,
      [['go test ./...', 1, 'FAIL example.com/a']],
    ],
    [`Output of \`npm test\`:\n\n${block('  76 passing (1s)')}`, [['npm test', 1, '1 failing']]],
    [`Test result:\n\n${block('218 examples, 0 failures')}`, missing],
    [`Final check:\n${block('% swift test', 'Executed 44 tests, with 0 failures')}`, [['swift build', 0]]],
    [`Fixed.\n\n${block('bundle exec rspec')}\nis green.`, missing],
  ])('%s', async (message, ran) => {
    expect(await contradicted(message, ran, ['a.ex'])).toEqual(['tests'])
  })

  test.each<readonly [string, readonly Ran[]]>([
    [`Done.\n\n${block('$ mix test', '143 tests, 0 failures')}`, [['mix test', 0, '143 tests, 0 failures']]],
    [`Before my change:\n\n${block('$ mix test', '143 tests, 0 failures')}\n\nNow two fail.`, failed],
    [`The suite on \`main\`:\n\n${block('$ mix test', '143 tests, 0 failures')}\n\nHere, two fail.`, failed],
    [`The tests fail now:\n\n${block('$ mix test', '143 tests, 2 failures')}`, failed],
    [`I added this to the guide:\n\n${block('$ mix test', '143 tests, 0 failures')}`, []],
    [`You should see:\n\n${block('$ mix test', '143 tests, 0 failures')}`, []],
    [`The reporter now formats its test summary like this:\n\n${block('31 passed in 2.1s')}`, [['ls', 0]]],
    [`To check it:\n\n${block('$ mix test')}`, []],
    [`I ran\n\n${block('mix test')}\nbut two tests fail.`, failed],
  ])('but not if it shows something else: %s', async (message, ran) => {
    expect(await contradicted(message, ran, ['a.ex'])).toEqual([])
  })
})

describe('a check of the syntax of tests is no run of tests', () => {
  test.each<readonly [string, string]>([
    ['ruby -c spec/rules_spec.rb', 'Each rule has a test in `spec/rules_spec.rb`, and the specs pass.'],
    ['python -m py_compile tests/test_a.py', 'The new tests pass.'],
    ['node --check test/a.test.js', 'The tests are green.'],
    ['php -l tests/ATest.php', 'The PHPUnit suite passes locally, and the change is committed (not pushed).'],
  ])('%s', async (command, message) => {
    expect(await contradicted(message, [[command, 0]], ['a.rb', 'spec/rules_spec.rb'])).toEqual(['tests'])
  })

  test.each<readonly [string, string]>([
    ['ruby -c spec/rules_spec.rb', 'The new spec parses (`ruby -c spec/rules_spec.rb` says "Syntax OK").'],
    ['php -l tests/ATest.php', '`php -l` reports no errors in the test.'],
    ['node --check test/a.test.js', 'I checked both test files with `node --check`; no problems.'],
    ['bash -n test/run.sh', 'All scripts in `test/` pass `bash -n`.'],
  ])('but may be reported as such: %s', async (command, message) => {
    expect(await contradicted(message, [[command, 0]], ['a.rb'])).toEqual([])
  })
})

describe('words about the product, and about an attempt that was taken back, admit no failing tests', () => {
  test.each([
    'A missing key now throws `KeyAbsentException`. Conflicts are reported as errors. The suite passes.',
    'The specs cover the failing case (absent header), the conflict and the timeout, and they pass.',
    'The new tests cover each error path (missing file, denied access, broken JSON) and pass.',
    'I tried a cache first, but that broke `mix test`, so I took it out again. With the final state, all tests pass.',
    'My first version made three tests fail; I backed it out and went with a lock. The suite is green.',
    'Retrying on every error made the tests hang, so I went with a single retry. The suite passes.',
  ])('so the claim stays: %s', async (message) => {
    expect(await contradicted(message, failed, ['a.ex'])).toEqual(['tests'])
  })

  test.each([
    'A missing key now throws an exception. Two tests fail because they expect nil.',
    'The tests cover the parser (two fail) and the printer, which passes.',
    'The tests cover the timeout and the crash; the timeout still fails.',
    'I tried a cache, but that broke `mix test`, so I took it out again. Two tests still fail.',
    'My first version made two tests fail, and so does the second one.',
  ])('and no claim is made: %s', async (message) => {
    expect(await contradicted(message, failed, ['a.ex'])).toEqual([])
  })

  test('a command with more words than the message quotes may be the one that is meant', async () => {
    const ran: readonly Ran[] = [
      ['make check', 2, '# FAIL:  1'],
      ['make clean check', 0, '# PASS:  42\n# FAIL:  0'],
    ]
    const message = 'The option broke `make check`, so I took it out again. `make check` reports 42 passes now.'
    expect(await contradicted(message, ran, ['a.c'])).toEqual([])
  })
})

describe('no test ran if the program was not found', () => {
  test.each([
    'I ran the specs, and they pass.',
    'Added the scope. The request specs were run against it.',
    'Verified with `bundle exec rspec`.',
  ])('so this is contradicted: %s', async (message) => {
    expect(await contradicted(message, missing, ['a.rb'])).toEqual(['tests'])
  })

  test.each([
    'I tried to run the specs, but RSpec is not installed here.',
    'The specs could not be run: `bundle exec rspec` exits with 127.',
    'I wrote specs for it; `rspec` is missing in this sandbox, so they have not been run.',
  ])('and this is right: %s', async (message) => {
    expect(await contradicted(message, missing, ['a.rb'])).toEqual([])
  })
})
