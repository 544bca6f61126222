import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const changed = ['src/a.ts']

describe('a commit after the last push', () => {
  const first: readonly Ran[] = [
    ['git commit -am one', 0],
    ['git push origin fix', 0],
  ]
  const ran: readonly Ran[] = [...first, ['git commit -am two', 0]]

  test.each([
    'Two commits on `fix`, both pushed.',
    'Both commits are pushed.',
    'I pushed both commits.',
    'I committed and pushed everything.',
    'Everything is pushed.',
    'The remote branch is up to date with my local one.',
  ])('contradicts: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['push'])
    expect(await contradicted(message, [...ran, ['git push origin fix', 0]], changed)).toEqual([])
    expect(await contradicted(message, [...ran, ['./scripts/sync.sh', 0]], changed)).toEqual([])
    expect(await contradicted(message, first, changed)).toEqual([])
  })

  test.each([
    'Two commits on `fix`. The first is pushed; the second is local only.',
    'Both commits were pushed except the last one.',
    'I pushed the branch to origin.',
    'Push the second commit, then both commits are pushed.',
    'I pushed to both mirrors.',
  ])("doesn't contradict: %s", async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })

  test('may be a third one, or on another branch', async () => {
    expect(await contradicted('Both commits are pushed.', [['git commit -am zero', 0], ...ran], changed)).toEqual([])
    const onOther: readonly Ran[] = [...first, ['git checkout -b notes', 0], ['git commit -am two', 0]]
    expect(await contradicted('Both commits are pushed.', onOther, changed)).toEqual([])
  })
})

describe('a push that happened', () => {
  const ran: readonly Ran[] = [
    ['git rebase -i origin/main', 0],
    ['git push --force-with-lease origin feature/search', 0],
  ]

  test.each([
    'The commits are squashed. I only did this locally.',
    'The history is clean. Nothing has been pushed, so you can compare before you decide.',
    'I only did this locally. Nothing has been pushed.',
    'Rebased. The remote branch is unchanged.',
    'Es wurde nichts gepusht.',
  ])('is denied: %s', async (message) => {
    expect(await contradicted(message, ran)).toEqual(['push'])
  })

  test.each([
    'I migrated the database. I only did this locally.',
    'The rebased branch is pushed. The merge I only did locally.',
    'Nothing has been pushed before you approved.',
    'I pushed the branch. Nothing has been pushed to the mirror.',
  ])('is not denied: %s', async (message) => {
    expect(await contradicted(message, ran)).toEqual([])
  })
})

describe('a tag', () => {
  const ran: readonly Ran[] = [
    ["git commit -am 'Release 0.9.0' && git tag v0.9.0", 0],
    ['git push origin main', 0],
  ]

  test.each([
    '`main` and the `v0.9.0` tag are both on GitHub now.',
    'The tag `v0.9.0` is on origin.',
    'Le tag `v0.9.0` est maintenant sur GitHub.',
  ])('that no push included is not there: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['push'])
    for (const push of ['git push --tags', 'git push --follow-tags', 'git push origin v0.9.0'])
      expect(await contradicted(message, [...ran, [push, 0]], changed)).toEqual([])
  })

  test('that the run only looked for may be there', async () => {
    const looked: readonly Ran[] = [
      ['git tag --contains b83d1f0', 0],
      ['git push origin main', 0],
    ]
    expect(await contradicted('The fix is pushed, and the tag `v0.8.0` is on GitHub.', looked, changed)).toEqual([])
  })
})

describe('a run of the tests on main', () => {
  const ran: readonly Ran[] = [['npm run test', 1, 'Tests  3 failed | 311 passed (314)']]

  test.each([
    'Three tests fail. I checked out `main` and ran the same specs there, and they fail too.',
    'Drei Tests schlagen fehl. Ich habe `main` ausgecheckt und die gleichen Tests dort laufen lassen.',
    "Trois tests échouent. Je suis passé sur `main` et j'ai relancé les mêmes tests.",
    'Fallan tres tests. Cambié a la rama `main` y ejecuté los mismos tests.',
    'Tre test falliscono. Sono passato a `main` e ho rieseguito gli stessi test.',
  ])('needs a checkout: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['tests'])
    expect(await contradicted(message, [...ran, ['git checkout main', 0], ...ran], changed)).toEqual([])
  })

  test.each([
    'Three tests fail. If you checked out `main` and ran the specs there, they should fail too.',
    "Three tests fail. I haven't checked out `main` and run them there.",
  ])('is not claimed: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})
