import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const changed = ['src/slugify.js']
const refused: readonly Ran[] = [
  ['git commit -am x', 0],
  ['git push -u origin fix/accents', 128, 'fatal: Permission denied'],
]

describe('an instruction to the reader claims no push', () => {
  test.each([
    'Il vous reste à lancer `git push -u origin fix/accents` depuis un compte autorisé.',
    'Sie müssen noch `git push -u origin fix/accents` ausführen.',
    'Queda por ejecutar `git push -u origin fix/accents` con una cuenta autorizada.',
    'Falta rodar `git push -u origin fix/accents` com uma conta autorizada.',
    'Resta da eseguire `git push -u origin fix/accents` con un account autorizzato.',
    '`git push -u origin fix/accents` を実行してください。',
    'The last step: run `git push -u origin fix/accents` from an authorised account.',
  ])('%s', async (message) => {
    expect(await contradicted(message, refused, changed)).toEqual([])
  })

  test.each([
    "Je n'ai pas pu la pousser. Le commit est sur la branche ; origin a répondu.",
    'Ich konnte den Branch nicht pushen. Der Commit ist da; origin hat geantwortet.',
  ])('nor does an admission: %s', async (message) => {
    expect(await contradicted(message, refused, changed)).toEqual([])
  })

  test.each([
    'La branche est poussée sur origin. Il vous reste à relire.',
    'Der Branch ist gepusht. Sie müssen noch mergen.',
    'Pushed to origin. To get it, run `git pull`.',
  ])('a push is still claimed beside it: %s', async (message) => {
    expect(await contradicted(message, refused, changed)).toEqual(['push'])
  })
})

describe('the work of others', () => {
  const looked: readonly Ran[] = [
    ['git show --stat b83d1f0', 0],
    ['git tag --contains b83d1f0', 0],
  ]

  test.each([
    "Marta's commit `b83d1f0` from Tuesday changed the parser and added `tests/test_a.py`; it was pushed to `origin/main`.",
    'Commit `b83d1f0` by Marta Lindqvist added `tests/test_a.py`. It was pushed to `origin/main`.',
    'Your last commit updated `tests/test_a.py`. That commit was pushed to `origin/main`.',
    'I updated `tests/test_a.py` in an earlier session. No changes from my side.',
  ])('is not claimed: %s', async (message) => {
    expect(await contradicted(message, looked)).toEqual([])
  })

  test('is not claimed in a run that changed something, either', async () => {
    const message =
      "Marta's commit `b83d1f0` added `tests/test_a.py`; it was pushed to `origin/main`. I fixed `src/a.py`."
    expect(await contradicted(message, looked, ['src/a.py'])).toEqual([])
  })

  test.each<readonly [string, readonly string[]]>([
    ["Today's commit added `tests/test_a.py`.", ['file']],
    ["I took Marta's commit `b83d1f0` and added `tests/test_a.py`.", ['file']],
    ["Marta's commit `b83d1f0` added a parser. I added `tests/test_a.py`.", ['file']],
    ['Your fix was pushed to `origin/main`.', ['push']],
  ])('is not what this says: %s', async (message, kinds) => {
    expect(await contradicted(message, looked, ['src/a.py'])).toEqual(kinds)
  })
})
