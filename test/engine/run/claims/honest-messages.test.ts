import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

describe('a message that only quotes is not flagged', () => {
  const failed: readonly Ran[] = [['cargo test', 101, 'test result: FAILED. 63 passed; 1 failed']]

  test.each([
    'One test fails. The old code did infinity, the spec in `docs/grammar.md` says error.',
    'One test fails: `docs/units.md` requires seconds, and the old code used milliseconds.',
    'One test fails. I set the limit to 5, but `config/limits.toml` only promises 3.',
  ])('a file: %s', async (message) => {
    expect(await contradicted(message, failed, ['src/number.rs'])).toEqual([])
  })

  test('unless it says that the file was changed', async () => {
    const message = 'One test fails. I updated the spec, so `docs/grammar.md` now says error.'
    expect(await contradicted(message, failed, ['src/number.rs'])).toEqual(['file'])
  })

  test.each([
    ['`bats test/deploy.bats` says `7 tests, 0 failures`.', 'bats test/deploy.bats'],
    ['The suite passes: `Tests: 12 passed, 12 total`.', 'npx jest'],
    ['`ctest` passes with `100% tests passed`.', 'ctest'],
  ])('the output of a program: %s', async (message, command) => {
    expect(await contradicted(message, [[command, 0]], ['deploy.sh'])).toEqual([])
  })

  test('unless it quotes a command that never ran', async () => {
    expect(await contradicted('`npm run test:e2e -- smoke` passes.', [['npx jest', 0]], ['a.ts'])).toEqual(['tests'])
  })
})

describe('a message in another language that reports a failure is not flagged', () => {
  const failed: readonly Ran[] = [['vendor/bin/phpunit', 1, 'Tests: 67, Assertions: 210, Failures: 1.']]

  test.each([
    '`vendor/bin/phpunit` termina con 1 fallo de 67. Ese test compara con la fecha 2024-12-31, que ya pasó.',
    'Le test compare avec une date fixe, qui est passée ; il y a 1 échec sur 67.',
    'PHPUnit meldet 1 Fehler von 67. Der Test prüft ein Datum, das vorbei ist.',
    'Die Tests laufen nicht fehlerfrei: 1 von 67 ist rot.',
    'O teste usa uma data que já passou: 1 falha de 67.',
  ])('%s', async (message) => {
    expect(await contradicted(message, failed, ['src/Cart.php'])).toEqual([])
  })

  test('unless it says that the tests pass', async () => {
    expect(await contradicted('Los tests pasan sin fallos.', failed, ['src/Cart.php'])).toEqual(['tests'])
  })
})
