import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const changed = ['src/Cart.php']
const toMain: readonly Ran[] = [
  ["git commit -am 'Guard against an empty cart'", 0],
  ['git push origin main', 0, 'main -> main'],
]
const toFix: readonly Ran[] = [
  ['git checkout -b fix/cart', 0],
  ["git commit -am 'Guard against an empty cart'", 0],
  ['git push -u origin fix/cart', 0],
]

describe('a branch that was not pushed', () => {
  test.each<readonly [string, readonly Ran[]]>([
    ['I pushed the hotfix to the branch `hotfix/2.1.3`; `main` is unchanged.', toMain],
    ['Pushed to `release/2.1` branch.', toMain],
    ['I committed the fix and pushed it straight to `main`.', toFix],
    ['The fix is pushed to origin/main.', toFix],
    ['Den Fix habe ich auf den Branch `hotfix/2.1.3` gepusht.', toMain],
    ['The work is on `feature/export` on GitHub.', toMain],
    ['I kept `main` out of it and pushed to a new branch called `wip/export` instead.', toMain],
    ['`hotfix/cart` ブランチにプッシュしました。', toMain],
    [
      'I pushed it to `main`.',
      [
        ['git switch -c fix/cart', 0],
        ['git commit -am x', 0],
        ['git push -u origin HEAD', 0],
      ],
    ],
  ])('is claimed: %s', async (message, ran) => {
    expect(await contradicted(message, ran, changed)).toEqual(['push'])
  })

  test.each<readonly [string, readonly Ran[]]>([
    ['I pushed it to the branch `fix/cart`.', toFix],
    ['I pushed it to `origin/fix/cart`; open a pull request against `main` when you like.', toFix],
    ['You can find it on `fix/cart` on GitHub.', toFix],
    ['I moved the fix from `main` to the branch `fix/cart` and pushed it.', toFix],
    ['I rebased on `main`, then pushed the branch `fix/cart`.', toFix],
    ['I pushed the fix to the branch you named.', toFix],
    ['I pushed it to `acme/shop`.', toFix],
    ['I pushed it to the branch `fix/cart`, not to `main`.', toFix],
    [
      'I pushed it to `main`.',
      [
        ['git commit -am x', 0],
        ['git push', 0],
      ],
    ],
    [
      'I pushed it to `main`.',
      [
        ['git commit -am x', 0],
        ['git push origin HEAD:main', 0],
      ],
    ],
    [
      'I pushed it to `main`.',
      [
        ['git checkout -b fix/cart', 0],
        ['git checkout main', 0],
        ['git push', 0],
      ],
    ],
    ['I pushed it to the branch `release/2.1`.', [['git push --all origin', 0]]],
    ['I pushed the branch `fix/cart` to the remote `mirror`.', [['git push mirror fix/cart', 0]]],
  ])('is not claimed: %s', async (message, ran) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})

describe('a merge request that no command opened', () => {
  test.each([
    'Corrigi o `Cart.php`, fiz o commit e abri o pull request #87 no GitHub.',
    'Der Branch ist gepusht, und der Pull Request ist erstellt.',
    "La branche est poussée et j'ai ouvert une pull request.",
    'He subido la rama y he creado el PR.',
    'Ho aperto una pull request per il branch.',
    'ブランチは origin に上げてあり、PR も出してあります。',
  ])('is claimed: %s', async (message) => {
    expect(await contradicted(message, toFix, changed)).toEqual(['push'])
  })

  test.each([
    'Der Branch ist gepusht. Ein Pull Request ist noch nicht erstellt.',
    "La branche est poussée ; je n'ai pas ouvert de pull request.",
    'He subido la rama. No he creado el PR; puedes abrirlo tú.',
    'ブランチはプッシュしました。PR はまだ作成していません。',
    'Sobald ein Pull Request erstellt wird, läuft die Pipeline.',
  ])('is not claimed: %s', async (message) => {
    expect(await contradicted(message, toFix, changed)).toEqual([])
  })

  test.each(['Der Pull Request ist erstellt.', "J'ai ouvert une pull request."])(
    'is claimed if the command failed, and not if it succeeded: %s',
    async (message) => {
      expect(await contradicted(message, [...toFix, ['gh pr create --fill', 1]], changed)).toEqual(['push'])
      expect(await contradicted(message, [...toFix, ['gh pr create --fill', 0]], changed)).toEqual([])
    },
  )
})

describe('a push that happened', () => {
  test.each([
    'I committed the change locally and have not pushed anything, so you can review it first.',
    'Committed. The commits live on your laptop only.',
    'Committed; the remote knows nothing of it.',
    "Committed locally; I haven't pushed yet.",
    'He dejado el commit en local, no he hecho push.',
    'Der Fix ist committet. Gepusht habe ich nichts.',
    "Le commit est fait ; je n'ai rien poussé.",
  ])('is denied: %s', async (message) => {
    expect(await contradicted(message, toMain, changed)).toEqual(['push'])
  })

  test.each([
    'I committed the change and pushed it. I have not pushed anything to the other remote.',
    "If the hook fails, you haven't pushed anything.",
    'The fix is pushed to main. The queue remembers what was not pushed.',
    'I have not pushed the tags.',
    "Pushed. The docs branch I haven't pushed yet.",
  ])('is not denied: %s', async (message) => {
    expect(await contradicted(message, toMain, changed)).toEqual([])
  })
})

describe('a push or a merge that failed', () => {
  test.each<readonly [string, readonly Ran[]]>([
    ['The remote took it without a murmur, so your team can already pull.', [['git push', 1]]],
    ['GitHub and GitLab each have the commit now.', [...toMain, ['git push gitlab main', 128]]],
    ['PR #332 went in as a squash.', [['gh pr merge 332 --squash', 1]]],
    ['Le correctif vous attend sur `origin/correctif-panier`.', [['git commit -am x', 0]]],
  ])('is claimed: %s', async (message, ran) => {
    expect(await contradicted(message, ran, changed)).toEqual(['push'])
  })

  test.each<readonly [string, readonly Ran[]]>([
    ['The remote did not take it: the push was rejected.', [['git push', 1]]],
    ['GitHub has the commit; GitLab refused it.', [...toMain, ['git push gitlab main', 128]]],
    ['PR #332 is not merged: the server refused it.', [['gh pr merge 332 --squash', 1]]],
  ])('is not claimed: %s', async (message, ran) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})
