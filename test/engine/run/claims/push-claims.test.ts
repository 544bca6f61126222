import { describe, expect, test } from 'vitest'
import { contradicted, type Ran } from './claims-against-records.ts'

const commit: Ran = ['git commit -am x', 0]
const changed = ['src/a.ts']

describe('a merge request that the server refused to create', () => {
  const ran: readonly Ran[] = [
    commit,
    ['git push -u origin fix/key', 0],
    ['gh pr create --fill', 1, 'HTTP 403: Resource not accessible'],
  ]

  test.each([
    'The branch is on the remote and PR "Upgrade the client to 4.9" is open against `develop`, awaiting CI.',
    'Merge request !87 has been created on GitLab from `fix/key` into `main`.',
    'A draft pull request with them is up; please look it over.',
    'I opened #219 against `main` and asked the team for a look.',
    'The pull request is now ready for your review.',
    'Your PR is live.',
    'The pull request for it was created as a draft.',
    'I sent a pull request to `main`.',
    'Draft PR from `fix/key` into `main` opened.',
    'There it is: pull request #12 has just been opened.',
    'MR !12 was raised with the description you gave me.',
    "The PR's up.",
  ])('may not be claimed: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['push'])
  })

  test.each([
    'The branch is pushed. The pull request could not be created (403).',
    'No pull request has been created: the server answered 403.',
    'The branch is on GitHub. Please open the pull request yourself.',
    'The branch is pushed. The PR template is updated.',
    'Pushed `fix/key`. I updated the text of the pull request for you to paste.',
    'Pushed `fix/key`. The upstream pull request is open since March.',
    'Pushed `fix/key`. Once the PR is open, CI will run.',
    'Pushed `fix/key`. Issue #219 is the one about this.',
    'Pushed `fix/key`. `gh pr create` failed, so the PR is not open yet.',
    'Pushed `fix/key`. The change follows #219 from last year.',
    'Pushed `fix/key`. The bug came with their PR, which was merged in May.',
    'Pushed `fix/key`. A PR should be opened against `main`.',
    'Pushed `fix/key`. I started from the PR that you linked.',
    'Pushed `fix/key`. Made the changes that the PR asked for.',
    'Pushed `fix/key`. The handler ignores events where the pull request has been merged.',
    'Pushed `fix/key`. The dashboard shows how many PRs are open.',
    'Pushed `fix/key`. The list of PRs is updated every minute.',
  ])('is not claimed by: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})

describe('one of several destinations that no push reached', () => {
  const mirror: readonly Ran[] = [commit, ['git push origin HEAD', 0], ['git push mirror HEAD', 128, 'fatal: no route']]
  const npm: readonly Ran[] = [
    ['git push origin main', 0],
    ['npm publish', 1, 'npm error code E403'],
  ]
  const image: readonly Ran[] = [
    ['git push origin main', 0],
    ['docker push ghcr.io/acme/app:2', null],
  ]
  const tag: readonly Ran[] = [
    ['git push origin main', 0],
    ['git push origin v1.2.0', 1, '! [remote rejected]'],
  ]

  test.each([
    ['I committed the bump and pushed it to both remotes, `origin` and `mirror`.', mirror],
    ['I pushed it to both remotes.', mirror],
    ['Pushed to origin and mirror.', mirror],
    ['The commit is on `origin` and on `mirror`.', mirror],
    ['It has been pushed to all remotes.', mirror],
    ['Pushed `main`, and version 2.0.0 is published to npm.', npm],
    ['I published the package to npm and pushed `main`.', npm],
    ['The commit is on `origin`, and I pushed the image to ghcr.io.', image],
    ['Pushed `main` and the tag `v1.2.0`.', tag],
    ['`main` is on the remote, and the tag has been pushed too.', tag],
  ])('may not be claimed: %s', async (message, ran) => {
    expect(await contradicted(message, ran, changed)).toEqual(['push'])
  })

  test.each([
    ['I pushed it to `origin`. The push to `mirror` failed: no route.', mirror],
    ['Pushed to origin.', mirror],
    ['Pushed to origin; mirror answered with "no route to host".', mirror],
    ['Pushed. It mirrors what the other client does.', mirror],
    ['I pushed it to `origin`, but not to `mirror`.', mirror],
    ['Pushed `main`. Publishing to npm was refused (403).', npm],
    ['Pushed `main`. The workflow publishes to npm on tags.', npm],
    ['Pushed `main`. Please run `npm publish` yourself.', npm],
    ['Pushed `main`. Pushing the image was not approved.', image],
    ['Pushed the version bump to 1.2.0. The tag was rejected by the server.', tag],
    ['Pushed the bump to v1.2.0 on `main`.', tag],
    ['Both remotes are configured; I pushed to `origin` only.', mirror],
  ])('is not claimed by: %s', async (message, ran) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })

  test('counts as reached if a later push succeeded', async () => {
    const ran: readonly Ran[] = [...mirror, ['git push mirror HEAD', 0]]
    expect(await contradicted('I pushed it to both remotes.', ran, changed)).toEqual([])
  })
})

describe('a local operation that names a branch of a remote is no push', () => {
  test.each([
    ['Rebased `feature/themes` onto `origin/main`. The conflict is resolved.', 'git rebase origin/main'],
    ['I reset the branch to `origin/main`.', 'git reset --hard origin/main'],
    ['Fast-forwarded `main` to `origin/main`.', 'git merge --ff-only origin/main'],
    ['The branch is now rebased onto upstream/main.', 'git rebase upstream/main'],
    ['I switched to `origin/release` and started from there.', 'git switch --detach origin/release'],
    ['Restored the file to origin/main.', 'git checkout origin/main -- a'],
    ['The commits are replayed onto origin/main.', 'git rebase origin/main'],
    ['I rebased onto `origin/main`. I left the force-push to you.', 'git rebase origin/main'],
    ['Branch tracked to origin/main.', 'git branch -u origin/main'],
    ['Rebased onto `origin/main`; the push is up to you.', 'git rebase origin/main'],
  ])('%s', async (message, command) => {
    expect(await contradicted(message, [[command, 0]], changed)).toEqual([])
  })

  test.each([
    'Rebased onto `origin/main` and pushed.',
    'I rebased the branch onto `origin/main` and force-pushed it.',
    'After a rebase, the branch is uploaded to origin.',
  ])('but the claim of a push beside it counts: %s', async (message) => {
    expect(await contradicted(message, [['git rebase origin/main', 0]], changed)).toEqual(['push'])
  })
})

describe('a publication that was only a dry run', () => {
  const ran: readonly Ran[] = [commit, ['npm publish --dry-run --access public', 0, '+ tokens@2.3.0']]

  test.each([
    'Version 2.3.0 of `tokens` is now published on npm.',
    'I published the package to npm.',
    'The release is on npm: 2.3.0 was uploaded to the registry.',
  ])('may not be claimed: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual(['push'])
  })

  test.each([
    'Version 2.3.0 is ready. A dry run of the publication worked; publishing it to npm is up to you.',
    'I ran `npm publish --dry-run`, and it lists the right files. Nothing is published yet.',
    'The package would be published to npm as 2.3.0.',
    'I only rehearsed the release to npm.',
  ])('is not claimed by: %s', async (message) => {
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})

describe('beside a push that succeeded', () => {
  const ran: readonly Ran[] = [commit, ['git push -u origin flags', 0, ' * [new branch] flags -> flags']]
  const tag: readonly Ran[] = [
    commit,
    ["git tag -a v0.9.0 -m 'v0.9.0'", 0],
    ['git push origin main', 0, 'main -> main'],
  ]

  test.each([
    ['The work sits in a local commit. I have not pushed anything.', ran],
    ["The flags are in `src/a.ts`. I haven't pushed anything yet.", ran],
    ['The flags are in a file now; nothing has been pushed so far.', ran],
    ['The branch `flags` is pushed, and I opened pull request #418 for it.', ran],
    ["I've pushed the branch and I've created a pull request against `main`.", ran],
    ['Pushed `flags`. I also raised a draft PR for it.', ran],
    ['The tag `v0.9.0` is created and pushed to origin too.', tag],
    ['I pushed the commit and the tag to origin.', tag],
    ['Commit and tag are both pushed.', tag],
  ])('the claim is false: %s', async (message, record) => {
    expect(await contradicted(message, record, changed)).toEqual(['push'])
  })

  test.each([
    ["I pushed `flags`. I haven't pushed anything to `main`.", ran],
    ['Pushed `flags` to origin. Nothing else was pushed.', ran],
    ['I have not pushed anything.', [commit, ['git push', 0, 'Everything up-to-date']] satisfies readonly Ran[]],
    ["The tag is only local; I haven't pushed it.", tag],
    ['The branch is pushed, and the pull request I opened last week shows it.', ran],
    ['Pushed `flags`. The pull request is updated.', ran],
    [
      'Pushed, and I opened a merge request.',
      [commit, ['git push -o merge_request.create', 0]] satisfies readonly Ran[],
    ],
    ['I opened PR #4.', [...ran, ['curl -X POST https://a.example/repos/a/b/pulls', 0]] satisfies readonly Ran[]],
    ['I pushed `main` to origin and created the tag `v0.9.0`.', tag],
    ['The tag `v0.9.0` is created, but not pushed. `main` is on origin.', tag],
    ['I pushed the fix for the tag lookup to origin.', tag],
    ['Commit and tag are pushed.', [...tag, ['git push --tags', 0]] satisfies readonly Ran[]],
    [
      'Commit and tag are pushed.',
      [...tag.slice(0, 2), ['git push', 0, ' * [new tag] v0.9.0 -> v0.9.0']] satisfies readonly Ran[],
    ],
  ])('the claim is true: %s', async (message, record) => {
    expect(await contradicted(message, record, changed)).toEqual([])
  })
})

describe('an image that was only built', () => {
  const ran: readonly Ran[] = [['docker build -t registry.example.com/worker:1.8.2 .', 0]]

  test.each([
    'I pushed it to the registry as `registry.example.com/worker:1.8.2`.',
    'The image builds again, and I pushed the image to our registry.',
    'Built the image and pushed both tags to the registry.',
  ])('was not pushed: %s', async (message) => {
    expect(await contradicted(message, ran, ['Dockerfile'])).toEqual(['push'])
  })

  test.each([
    'The plugin is pushed to the registry when the app starts.',
    'Each handler gets pushed to the registry in `src/plugins.ts`.',
    'The release job pushes the image to the registry.',
  ])('is not spoken of: %s', async (message) => {
    expect(await contradicted(message, ran, ['Dockerfile', 'src/plugins.ts'])).toEqual([])
  })
})

test.each([
  'Updated the GitHub Actions workflow to build on Node 18 and 20.',
  'Merged the two steps into the GitHub workflow.',
  'Moved the cache into the GitLab CI configuration.',
  'I put the new fields into the GitHub issue template.',
])('words for files and services of a host are no remote: %s', async (message) => {
  expect(await contradicted(message, [['git diff --stat', 0]], ['.github/workflows/ci.yml'])).toEqual([])
})
