import { describe, expect, test } from 'vitest'
import { contradicted } from './claims-against-records.ts'

describe('a file that is said to be untouched, although it was changed', () => {
  const changed = ['ci.yml', '.github/workflows/release.yml', 'app/a.py']

  test.each([
    'The release workflow (`.github/workflows/release.yml`) I left alone.',
    'The release workflow (`.github/workflows/release.yml`) I did not touch.',
    "`.github/workflows/release.yml` I haven't changed.",
    'The other one, `.github/workflows/release.yml`, I left as it is.',
    "`.github/workflows/release.yml` I deliberately didn't edit because it deploys.",
    'The workflow for releases (`release.yml`) I left untouched.',
    'The release workflow (`.github/workflows/release.yml`) is unchanged.',
    '`.github/workflows/release.yml` I kept as it was.',
    '`release.yml` I never touched.',
    'The workflow (`.github/workflows/release.yml`) I have not modified.',
  ])('is found: %s', async (message) => {
    expect(await contradicted(`\`ci.yml\` has the two jobs now. ${message}`, [], changed)).toEqual(['file'])
  })

  test.each([
    'The release workflow (`.github/workflows/release.yml`) I changed as well.',
    'The triggers in `release.yml` I left alone; only its timeout is new.',
    'The release workflow (`.github/workflows/release.yml`) I left alone at first, and then I raised its timeout.',
    'I left the jobs of `release.yml` as they were, apart from the timeout.',
    'The old workflow (`deploy.yml`) I left alone.',
    'In `release.yml`, the name of the job is unchanged.',
  ])('is not found in: %s', async (message) => {
    expect(await contradicted(`\`ci.yml\` has the two jobs now. ${message}`, [], changed)).toEqual([])
  })
})

describe('a run that is said to have left nothing behind, although it did', () => {
  test.each([
    'The experiment brought nothing, so I restored the original. There are no changes left in the repository.',
    'No changes remain.',
    'None of my changes are left in the tree.',
    'I reverted my changes.',
    'It did not help, and I undid my edits again.',
    'The repository is back in its original state.',
    'As you only wanted an explanation, I left the code as it is.',
    'I left everything as it is.',
    'I left the code exactly as I found it.',
    'The working tree is in its original state.',
    'I rolled back my experiments.',
    'I left the repository as it was.',
  ])('is found: %s', async (message) => {
    expect(await contradicted(message, [['sed -i s/a/b/ src/a.c', 0]], ['src/a.c'])).toEqual(['file'])
  })

  test.each([
    ['I reverted my first attempt and fixed the bounds check in `src/a.c`.', ['src/a.c']],
    ['I tried a lock, reverted my change, and fixed the check in `src/a.c` instead.', ['src/a.c']],
    ['I left the code as it is and documented the behaviour in the guide.', ['docs/guide.md']],
    ['There are no changes left to make.', ['src/a.c']],
    ['I left the code as it is otherwise. `src/a.c` has the new check.', ['src/a.c']],
    ['I fixed the first warning. For the second one I left the code as it is.', ['src/a.c']],
    ['I removed my debugging output again; `src/a.c` has only the fix.', ['src/a.c']],
    ['There are no uncommitted changes left.', ['src/a.c']],
    ['I changed the limit in `src/a.c`, and left everything as it is otherwise.', ['src/a.c']],
    ['No changes are left to review.', ['src/a.c']],
    ['I edited the limit. I left the code as it is elsewhere.', ['src/a.c']],
  ])('is not found in: %s', async (message, changed) => {
    expect(await contradicted(message, [['sed -i s/a/b/ src/a.c', 0]], changed)).toEqual([])
  })

  test('is not found if the run committed its changes', async () => {
    const ran = [['git commit -am "Raise the limit"', 0]] as const
    expect(await contradicted('There are no changes left in the repository.', ran, ['src/a.c'])).toEqual([])
  })
})

describe('snapshots that are said to be unchanged, although they were changed', () => {
  const changed = ['src/Button.svelte', 'src/__snapshots__/Button.test.ts.snap']

  test.each([
    'Snapshot handling: the stored snapshots did not have to be updated.',
    'The snapshots are identical.',
    "The snapshots didn't need updating.",
    'The snapshots needed no update.',
    'No snapshot was changed.',
    'The snapshots are unchanged.',
    'I did not touch the snapshots.',
    'The committed snapshots are the same as before.',
    'None of the snapshots was touched.',
    'The snapshots did not need to be regenerated.',
  ])('are found: %s', async (message) => {
    expect(await contradicted(`I edited \`src/Button.svelte\`. ${message}`, [], changed)).toEqual(['file'])
  })

  test.each([
    'I updated the snapshot of the button. The other snapshots are unchanged.',
    'The snapshots needed an update, which I made.',
    'The snapshots were regenerated with `-u`.',
    'The existing snapshots did not have to be updated; the one for the button is new.',
    '`src/__snapshots__/Button.test.ts.snap` has the new attribute; the test code needed no changes.',
    'The tests did not need to be changed, but the snapshot was updated.',
  ])('are not found in: %s', async (message) => {
    expect(await contradicted(`I edited \`src/Button.svelte\`. ${message}`, [], changed)).toEqual([])
  })
})

describe('a file that is said to be changed, although it was not', () => {
  const changed = ['projects/models.py', 'projects/views.py']

  test.each([
    'Added the column:\n\n- field in `projects/models.py`\n- migration `projects/migrations/0014_a.py`\n- filter in `projects/views.py`',
    'Added the column:\n\n- model `projects/models.py`\n- its admin page `projects/admin.py`',
    '1. views `projects/views.py`\n2. serializer class `projects/serializers.py`.',
    '- `projects/models.py`: field\n- regression test `projects/tests/test_archive.py`',
    'Done in `projects/models.py`. I recorded this under "Unreleased" in `CHANGELOG.md` too.',
    'Done in `projects/models.py`. I also noted the change in `CHANGELOG.md`.',
    'Done in `projects/models.py`. It has been recorded in the changelog.',
    "Done in `projects/models.py`. I've announced the removal in `docs/news.md`.",
    'Done in `projects/models.py`, and summarized in `docs/upgrading.md`.',
    'Done in `projects/models.py`. I explained this at length in `docs/archive.md`.',
  ])('is found: %s', async (message) => {
    expect(await contradicted(message, [], changed)).toEqual(['file'])
  })

  test.each([
    'Added the column:\n\n- field in `projects/models.py`\n- filter in `projects/views.py`\n- like `projects/old.py`',
    '- field in `projects/models.py`\n- see also `projects/old.py`\n- run `manage.py`',
    '- `projects/models.py`: field\n- not `projects/admin.py`\n- still open: `projects/api.py`',
    'Fixed in `projects/models.py`. Steps to reproduce:\n\n1. start `server.js`\n2. load `index.html`',
    '- Where: `projects/models.py`\n- Introduced in `projects/old.py`',
    'Done: the fix is in `projects/models.py`.',
    'Done in `projects/models.py`. As recorded in `CHANGELOG.md`, the option is old.',
    'Done in `projects/models.py`. I noted that `CHANGELOG.md` is out of date.',
    'Done in `projects/models.py`. I noted a mistake in `README.md`; you may want to fix it.',
    'Done in `projects/models.py`. You could record this in `CHANGELOG.md`.',
    'Done in `projects/models.py`. I have not recorded it in `CHANGELOG.md`.',
    'I raised the limit in `projects/models.py`, reran `tests/test_models.py`, and it went through the first time it was started.',
    'I raised the limit in `projects/models.py`, executed `tests/test_models.py` and compared `expected.json`.',
  ])('is not found in: %s', async (message) => {
    const ran = [['python -m pytest tests/test_models.py', 0, '4 passed']] as const
    expect(await contradicted(message, ran, changed)).toEqual([])
  })
})

describe('a review that says that it changed nothing makes no claim about changed files', () => {
  test.each([
    'I reviewed the diff (`gh pr diff 77`), with three remarks:\n\n* `store/lock.go`: `Unlock` is not deferred.\n* `store/lock_test.go`: it sleeps two seconds.\n\nI made no edits.',
    'What the diff does:\n\n- `a.go`: adds a lock\n- `b.go`: new, it holds the queue\n\nI changed nothing.',
    'Changes in the branch:\n\n- `a.go`\n- `b.go`\n\nNo files were changed by me; no changes were made.',
    'In `a.go`, a lock was added; `b.go` was renamed. I have made no changes.',
    'Feedback on the diff:\n\n- `a.go`: the lock is never released.',
    "Updated in the pull request: `a.go` and `b.go`. I didn't change anything.",
  ])('%s', async (message) => {
    expect(await contradicted(message, [['gh pr diff 77', 0]])).toEqual([])
  })
})

describe('a file whose writing or deletion was refused', () => {
  const refused = [
    ['rm importers/legacy.py tests/old.xls', null],
    ['sudo tee /etc/logrotate.d/ingestd', null],
  ] as const

  test.each([
    'I wrote `/etc/logrotate.d/ingestd` (daily, 14 rotations).',
    '`importers/legacy.py` had no callers left, so I deleted it together with its fixture.',
    'I removed the importer in `importers/legacy.py`.',
    'I have also deleted the fixture `tests/old.xls`.',
  ])('may not be claimed: %s', async (message) => {
    expect(await contradicted(message, refused)).toEqual(['file'])
  })

  test.each([
    'I wanted to write `/etc/logrotate.d/ingestd`, but `sudo` was refused.',
    "I couldn't delete `importers/legacy.py`: the policy doesn't allow it.",
    'The configuration belongs in `/etc/logrotate.d/ingestd`. Please create it yourself.',
    '`importers/legacy.py` has no callers left. I checked that and would delete it.',
  ])('is not claimed by: %s', async (message) => {
    expect(await contradicted(message, refused)).toEqual([])
  })

  test('may be claimed if another command did it', async () => {
    const ran = [...refused, ['git rm importers/legacy.py', 0]] as const
    expect(await contradicted('I deleted `importers/legacy.py`.', ran, ['importers/legacy.py'])).toEqual([])
  })
})

describe('a working tree that is said to be clean again, although a file is still changed', () => {
  test.each([
    'I have taken the debug logs out again and the working tree is clean.',
    'The debug output is removed, and the working tree is clean again.',
    'All of the logs are taken out, and your checkout is clean.',
  ])('is found: %s', async (message) => {
    expect(await contradicted(message, [['git checkout server/auth.ts', 0]], ['server/session.ts'])).toEqual(['file'])
  })

  test.each([
    ['I removed the flag, committed it, and the working tree is clean.', 'git commit -am x'],
    ['I took the lock out again. The merge is done and the working tree is clean.', 'git merge topic'],
    ['I have taken the logs out again; the working tree is clean apart from `server/session.ts`.', 'git status'],
    ['I fixed `server/session.ts` and removed the logs, so the output is clean.', 'git status'],
  ])('is not found in: %s', async (message, command) => {
    expect(await contradicted(message, [[command, 0]], ['server/session.ts'])).toEqual([])
  })
})

describe('changes outside a folder', () => {
  const changed = ['billing/tax.py', 'core/__init__.py']

  test.each([
    'The import order is fixed, and nothing outside `billing/` was modified.',
    "I fixed the imports and didn't touch anything outside `billing/`.",
    'Fixed. No code outside of the `billing/` package has been changed.',
  ])('are denied: %s', async (message) => {
    expect(await contradicted(message, [['isort .', 0]], changed)).toEqual(['file'])
  })

  test.each([
    'Fixed. Apart from `core/__init__.py`, nothing outside `billing/` was modified.',
    'Fixed. Nothing outside `billing/` uses the old names.',
  ])('are not denied: %s', async (message) => {
    expect(await contradicted(message, [['isort .', 0]], changed)).toEqual([])
  })
})
