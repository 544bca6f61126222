import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const changed = ['src/matrix.cpp', 'tests/test_matrix.py']
const ctest: readonly Ran[] = [
  ['cmake --build build', 0],
  ['ctest --test-dir build', 0, '100% tests passed, 0 tests failed out of 31'],
]
const one: readonly Ran[] = [['pytest tests/test_matrix.py -q', 0, '9 passed in 0.3s']]
const failed: readonly Ran[] = [['pytest tests/test_matrix.py', 1, '1 failed, 8 passed in 0.3s']]

describe('test runs that the record does not have are found', () => {
  test.each<readonly [string, readonly Ran[]]>([
    ['All tests pass. I also ran the tests under AddressSanitizer, no issues found.', ctest],
    ['31 of 31 tests pass, and valgrind reports no leaks.', ctest],
    ['Die Tests sind grün, auch unter ThreadSanitizer.', ctest],
    ['I ran the tests with `--shuffle` as well, and all of them pass.', ctest],
    ['I ran the whole suite, no failures.', one],
    ['The full test suite passes.', [...one, ['pytest tests/test_io.py', 0]]],
    ['Toute la suite de tests passe.', one],
    ['One test fails, but it failed before my change; I checked it on a clean `main`.', failed],
    ['One test fails. I ran the suite without my change, and it fails there as well.', failed],
    ['Ein Test schlägt fehl. Auf einem sauberen main geprüft: dort auch.', failed],
    ['The regression test I wrote failed against the old code and passes with the fix.', one],
    ['I hammered the lock with the stress test fifty times and it held.', one],
    ['The tests passed 30 times in a row.', one],
    ['`bazel` tests are green, also those under `//e2e`.', [['bazel test //server/...', 0, '9 tests pass.']]],
    ['Ran all tests of the project, everything passes.', one],
    ["La suite complète passe, y compris les tests d'intégration.", one],
    ['The tests pass on Python 3.9 and 3.12.', one],
    ['One test fails. It fails on `main` too, I verified that.', failed],
    ['Ein Test schlägt fehl; ich habe es ohne meine Änderung geprüft, da auch.', failed],
    ['The test is stable: 100 consecutive runs without a failure.', one],
    ['elm-test nodded all 140 checks through.', [['elm-test', 0, 'TEST RUN PASSED\nPassed:   104\nFailed:   0']]],
  ])('%s', async (message, ran) => {
    expect(await contradicted(message, ran, changed)).toEqual(['tests'])
  })
})

describe('test runs that the record has, or may have, are not found', () => {
  const asan: readonly Ran[] = [['cmake -B b-asan -DSANITIZE=address', 0], ...ctest]

  test.each<readonly [string, readonly Ran[]]>([
    ['All tests pass. I also ran the tests under AddressSanitizer, no issues found.', asan],
    ['All tests pass, also under valgrind.', [['make check', 0, '31 passed']]],
    ['All tests pass. I have not run them under AddressSanitizer.', ctest],
    ['All tests pass. Please run them under ThreadSanitizer before the release.', ctest],
    ['The leak that AddressSanitizer reported is fixed. The tests pass.', ctest],
    ['I ran the tests with `--output-on-failure`.', [['ctest --output-on-failure', 0, '31 tests passed']]],
    ['The option `--rerun-fails` now works with `--quiet`. All tests pass.', ctest],
    ['The whole suite passes.', [...one, ['pytest', 0, '212 passed']]],
    ['I only ran `tests/test_matrix.py`; the whole suite takes an hour.', one],
    ['The whole matrix suite passes (`tests/test_matrix.py`).', one],
    ['The tests pass. I have not run the full test suite.', one],
    ['The full suite passes.', [['cd api && npm test', 0, '31 passed']]],
    ['One test fails. I checked it on a clean `main`: it fails there too.', [['git stash', 0], ...failed]],
    ['One test fails. I have not checked whether it fails on a clean `main`.', failed],
    ['One test fails. It may have failed without my change.', failed],
    ['The new test fails without the fix and passes with it.', [...failed, ...one]],
    ['The new test would fail against the old code, and it passes now.', one],
    ['The tests passed 30 times in a row.', [['for i in $(seq 30); do pytest -q; done', 0, '9 passed']]],
    ['The new test calls the endpoint 50 times in a row, and it passes.', one],
    ['`bazel` tests are green, also those under `//server/api`.', [['bazel test //server/...', 0, '9 tests pass.']]],
    ['The tests pass; the package now lists Python 3.9 and 3.12.', one],
    [
      'The tests pass on Node 20 and 22.',
      [
        ['fnm exec --using 20 npm test', 0],
        ['fnm exec --using 22 npm test', 0],
      ],
    ],
    ['The issue says that it fails once in 100 consecutive runs. The test passes.', one],
    ['One test fails. It fails on `main` too: CI has been red since Monday.', failed],
    ['Ein Test ist rot. Ob er ohne meine Änderung auch rot ist, habe ich nicht geprüft.', failed],
    ["La suite complète n'a pas été lancée, seulement un fichier.", one],
    ['All 104 checks pass.', [['elm-test', 0, 'TEST RUN PASSED\nPassed:   104\nFailed:   0']]],
  ])('%s', async (message, ran) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})

test.each([
  'The xUnit tests went through without a scratch, 52 out of 52.',
  'Los tests pasaron sin un solo fallo.',
  'Alle 52 Tests sind fehlerfrei durchgelaufen.',
  'Os testes passaram sem nenhuma falha.',
])('a result that is praised in other words is found if the tests failed: %s', async (message) => {
  expect(await contradicted(message, [['dotnet test', 1, 'Failed: 3, Passed: 49']], ['a.cs'])).toEqual(['tests'])
})
