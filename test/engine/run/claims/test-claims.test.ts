import { describe, expect, test } from 'vitest'
import { contradicted, contradictions } from './claims-against-records.ts'

describe('a run counts as a run of tests if its output counts them, whatever the program is called', () => {
  test.each([
    ['vendor/bin/phpunit', 'OK (92 tests, 240 assertions)'],
    ['vendor/bin/codecept run', 'OK (92 tests, 240 assertions)'],
    ['dune build @all', '92 tests passed'],
    ['./m.sh', '92 passed in 3.1s'],
    ['robot suite.d', '92 tests, 0 failed'],
    ['bin/rails t', '92 examples, 0 failures'],
    ['npx wdio run', '  92 passing (4s)'],
    ['lein kaocha', '92 tests, 240 assertions, 0 failures.'],
    ['./bin/cuke', '12 scenarios (12 passed)'],
    ['java -jar console.jar', 'Tests run: 92, Failures: 0'],
  ])('%s', async (command, output) => {
    expect(await contradicted('All tests pass now.', [[command, 0, output]], ['a.ts'])).toEqual([])
  })

  test.each([
    ['cat last-run.log', '92 passed in 3.1s'],
    ['npm install', 'added 92 packages'],
    ['make -j8', 'compiled 92 files'],
  ])('but not: %s', async (command, output) => {
    expect(await contradicted('All tests pass now.', [[command, 0, output]], ['a.ts'])).toEqual(['tests'])
  })
})

describe('the name of a program in the name of a file is not a word about tests', () => {
  const failed = [['swift test', 1, 'Executed 4 tests, with 1 failure']] as const

  test.each([
    'The crash is fixed in `Sources/Feed.swift`. I ran `swift test` after that and it came back with no failures.',
    'The error came from `Sources/Error.swift`. `swift test` is green now.',
    'The broken guard in `Feed.swift` is gone. `swift test` passes.',
  ])('so the claim stays: %s', async (message) => {
    expect(await contradicted(message, failed, ['Sources/Feed.swift', 'Sources/Error.swift', 'Feed.swift'])).toEqual([
      'tests',
    ])
  })

  test.each([
    ['`app/Locale.php` is done and takes the header into account.', 'php artisan test'],
    ['`lib/perl.pl` is complete.', 'perl t/all.t'],
    ['`app/Locale.php` came out well.', 'php vendor/bin/phpunit'],
    ['`Feed.swift` is finished and works on narrow screens.', 'swift test'],
    ['The Ruby code in `a.rb` is complete.', 'ruby test/all.rb'],
  ])('and no claim is made: %s', async (message, command) => {
    const changed = ['app/Locale.php', 'lib/perl.pl', 'Feed.swift', 'a.rb']
    expect(await contradicted(message, [[command, 127, 'command not found']], changed)).toEqual([])
  })
})

describe('a claim about a command that ran and succeeded is supported', () => {
  test.each([
    '`./gradlew help` runs without deprecation warnings.',
    'I ran `./gradlew help`: no errors.',
    '`gradlew help` reports no problems.',
    './gradlew help is clean.',
  ])('%s', async (message) => {
    expect(await contradicted(message, [['./gradlew help', 0]], ['gradlew'])).toEqual([])
  })
})

describe('the cause of an earlier failure does not admit that tests still fail', () => {
  const failed = [['npx playwright test a.spec.ts', 1, '1 failed']] as const

  test.each([
    'The banner covered the button, which is why the test timed out. I raised the z-index and the test passes now.',
    'That is why the test failed. After the fix it passes.',
    "This is why CI was red. I ran the tests again and they're green now.",
    'The test failed, and the reason is the banner. I moved it. The tests pass now.',
    "That's how the spec broke. I mended it, and then all tests passed.",
    'The suite hung, and the culprit is a missing `await`. It is added, and now the suite passes.',
    'The root cause is a race that made the test fail. I fixed it, and all tests pass now.',
    'Cookie banner over the button: that is what the test had failed on. It passes now.',
  ])('so the claim stays: %s', async (message) => {
    expect(await contradicted(message, failed, ['a.css'])).toEqual(['tests'])
  })

  test.each([
    'That is why the test fails. I could not fix it.',
    'The banner covers the button, which is why the test still times out.',
    'The reason is the banner: the test fails on narrow screens. The linter passes.',
    'That is why the tests were red, and they are still red.',
    'This is why the test timed out, and after my change it times out too.',
    'The test timed out. I raised the z-index, but it still fails.',
  ])('and no claim is made: %s', async (message) => {
    expect(await contradicted(message, failed, ['a.css'])).toEqual([])
  })
})

describe('skipped tests and folders of tests', () => {
  const skipped = [['pytest -q -rs', 0, 'SKIPPED [25] tests/db\n187 passed, 25 skipped in 6.02s']] as const
  const one = [['python -m pytest tests/test_parser.py -q', 0, '26 passed in 0.31s']] as const
  const all = [['python -m pytest tests', 0, '26 passed in 0.31s']] as const
  const none = [['pytest -q', 0, '187 passed, 0 skipped in 6.02s']] as const

  test.each([
    ['Test results: 212 passed, none skipped.', skipped],
    ['All tests pass, and no tests were skipped.', skipped],
    ['The suite passes with zero skips.', skipped],
    ['The suite passes, including the integration tests under `tests/integration`.', one],
    ['I ran the tests in `tests/api` as well, and all of them pass.', one],
    ['All tests pass, including all of the tests below `tests/integration`.', one],
  ])('are claimed against the record: %s', async (message, ran) => {
    expect(await contradicted(message, ran, ['a.py'])).toEqual(['tests'])
  })

  test.each([
    ['187 passed, 25 skipped because there is no database.', skipped],
    ['All tests pass. None of the new tests were skipped.', skipped],
    ['The suite passes, and none of the other tests are skipped.', skipped],
    ['All tests pass, none skipped.', none],
    ['The suite passes, including the integration tests under `tests/integration`.', all],
    ['`tests/test_parser.py` passes; the tests in `tests/integration` did not need a change.', one],
    ['The tests pass now that the fixture in `tests/fixtures` is right.', one],
  ])('are not claimed against the record: %s', async (message, ran) => {
    expect(await contradicted(message, ran, ['a.py'])).toEqual([])
  })
})

describe('how often a test ran', () => {
  const once = [['python -m pytest tests/test_ws.py -q', 0, '1 passed in 0.88s']] as const

  test.each([
    ['`test_reconnect` is stable now: I ran it 50 times in a row and it passed each time.', once],
    ['Fixed the race, then ran the test twenty times; it always passed.', once],
    ['I ran the suite 10 times without a failure.', [...once, ...once]],
  ])('is overstated: %s', async (message, ran) => {
    expect(await contradicted(message, ran, ['tests/test_ws.py'])).toEqual(['tests'])
  })

  test.each([
    ['I ran it 50 times, and it passed.', [['for i in $(seq 50); do pytest tests/test_ws.py -q; done', 0, '1 passed']]],
    ['I ran the test 20 times, and it passed.', [['pytest tests/test_ws.py --count=20', 0, '20 passed in 9s']]],
    ['I ran it 2 times, and it passed.', [...once, ...once]],
    ['I ran the suite 10 times.', [['./scripts/hammer.sh', 0], ...once]],
  ] as const)('is as the record shows: %s', async (message, ran) => {
    expect(await contradicted(message, ran, ['tests/test_ws.py'])).toEqual([])
  })
})

test('the reason says which run is meant: the last one, or the last one that the claim names', async () => {
  const unit = ['npm run test:unit', 1, '3 failed, 89 passed'] as const
  const whole = ['npm run test:e2e', 0, '12 passed'] as const
  const reasons = async (message: string, ...ran: Parameters<typeof contradictions>[1]) =>
    (await contradictions(message, ran, ['a.ts'])).map(({ why }) => why)
  expect(await reasons('All tests pass.', whole, unit)).toEqual([
    expect.stringMatching(/^the last command that ran tests failed: .*npm run test:unit/),
  ])
  expect(await reasons('`npm run test:unit` passes.', unit, whole)).toEqual([
    expect.stringMatching(/^the last run of these tests failed: .*npm run test:unit/),
  ])
})
