import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import {
  changesBetween,
  planCommits,
  readCheckedOut,
  readRepositoryState,
  type PlannedCommits,
} from '../../sandbox/index.ts'
import { tempDir } from '../support/temp-dir.ts'

const commit = (message: string): string =>
  `git -c user.name=x -c user.email=x@x commit -qm ${message} --allow-empty --no-verify`

/** A repository with one commit, and a clone of it in which the commands of `script` have run. Plans the landing of the clone's commits. */
async function planned(script: string, prepare = 'true'): Promise<PlannedCommits> {
  const folder = tempDir()
  // An amended commit has a committer, too, of whom a user without a configuration has none.
  const env = { ...process.env, GIT_COMMITTER_NAME: 'x', GIT_COMMITTER_EMAIL: 'x@x' }
  const run = (...lines: readonly string[]): Buffer =>
    execFileSync('sh', ['-ec', lines.join('\n')], { cwd: folder, env })
  run('git init -q -b main host', `cd host; ${commit('first')}; ${prepare}`)
  run('git clone -q --no-hardlinks host view', 'cd view', 'git remote rm origin', script)
  const at = (name: string) => ({ own: join(folder, name, '.git'), common: join(folder, name, '.git') })
  const head = readCheckedOut(at('host'))
  const before = readRepositoryState(at('host'))
  const now = readRepositoryState(at('view'))
  if (head === undefined || before === undefined || now === undefined) throw new Error('no repository')
  const changes = changesBetween(before, now, { except: new Set(), isRemovalKnown: true })
  return planCommits({
    ...{ from: at('view'), to: at('host'), under: 'refs/portcullis/S', roots: ['/nowhere'], changes, head },
    protectedIn: () => (path) => (path === '.envrc' ? 'never lands' : undefined),
  })
}

const refsOf = (plan: PlannedCommits): readonly string[] =>
  plan.type === 'planned' ? plan.refs.map(({ ref }) => ref.replace('refs/', '')) : []

test('commits land although those of another branch cannot be read, and the reason is said', async () => {
  const plan = await planned(`
    git checkout -qb broken; echo x > x; git add x; ${commit('broken')}; tree=$(git rev-parse 'HEAD^{tree}')
    git checkout -qb good main; ${commit('good')}
    git checkout -q main; ${commit('second')}
    rm -f .git/objects/$(echo $tree | sed 's,..,&/,')`)
  expect(plan).toMatchObject({ type: 'planned', left: expect.stringContaining('refs/heads/broken') })
  expect(plan).toMatchObject({ head: { moved: { branch: 'refs/heads/main' } } })
  expect(refsOf(plan)).toEqual(['heads/good'])
})

test('objects among which there is a pipe are not read, because git would wait there', async () => {
  const pipe = `.git/objects/ab/${'c'.repeat(38)}`
  const plan = await planned(`${commit('second')}; mkdir -p .git/objects/ab; mkfifo ${pipe}`)
  expect(plan).toMatchObject({ type: 'failed', why: expect.stringContaining('links or pipes') })
})

test('a file in place of the directory of packs is no reason to fail', async () => {
  expect((await planned(`${commit('second')}; rm -rf .git/objects/pack; touch .git/objects/pack`)).type).toBe('planned')
})

test('of what was fetched, nothing lands but what the run built on it', async () => {
  const plan = await planned(`
    git clone -q . ../other; cd ../other; ${commit('upstream')}; git tag v1; cd ../view
    git fetch -q --tags ../other main:refs/remotes/other/main
    git checkout -qb own; ${commit('own')}; git checkout -q main`)
  expect(refsOf(plan)).toEqual(['heads/own', 'portcullis/S/tags/v1'])
})

test('nothing is planned if the repository has all commits', async () => {
  expect(await planned('git tag also')).toMatchObject({
    type: 'complete',
    kept: [{ command: expect.stringMatching(/^git tag also [0-9a-f]{40}$/) }],
  })
})

test.each([
  ['a protected file', `echo x > .envrc; git add .envrc; ${commit('second')}`, 'changes ".envrc"'],
  [
    'one that a later commit removes',
    `echo x > .envrc; git add .envrc; ${commit('a')}; git rm -q .envrc; ${commit('b')}`,
    '".envrc"',
  ],
  [
    'a repository',
    `git init -q in; (cd in; ${commit('x')}); git add in 2>&1; ${commit('second')}`,
    'the repository in "in"',
  ],
  [
    'a rewritten commit',
    `${commit('second')}; git commit --amend -qm other --allow-empty; git reset -q --hard $(git -c user.name=x -c user.email=x@x commit-tree -m root 'HEAD^{tree}')`,
    'would not move forward',
  ],
])('a branch with %s stays, and its commits are kept', async (_, script, why) => {
  const plan = await planned(script)
  expect(plan).toMatchObject({
    type: 'planned',
    head: { ref: 'refs/portcullis/S/heads/main', stayed: expect.stringContaining(why) },
    kept: [{ ref: 'refs/heads/main', command: 'git reset refs/portcullis/S/heads/main' }],
  })
})

test.each([
  ['v1', 'refs/tags/v1'],
  ['origin/main', 'refs/remotes/origin/main'],
  ['origin', 'refs/remotes/origin'],
  ['heads/main', 'refs/heads/main'],
  ['remotes/origin/main', 'refs/remotes/origin/main'],
  ['MAIN', 'only in case'],
  ['FETCH_HEAD', 'another meaning'],
  ['$(touch${IFS}x)', 'a shell would read it'],
  ['refs/heads/main', 'refs/heads/main'],
  ['deadbeefdeadbeefdeadbeefdeadbeefdeadbeef', 'another meaning'],
])('no branch lands whose name is %s', async (name, why) => {
  const plan = await planned(
    `git update-ref 'refs/heads/${name}' $(git -c user.name=x -c user.email=x@x commit-tree -p HEAD -m x 'HEAD^{tree}')`,
    'git tag v1; git update-ref refs/remotes/origin/main HEAD; git update-ref refs/remotes/origin/HEAD HEAD',
  )
  expect(plan).toMatchObject({ type: 'planned', head: undefined, kept: [{ why: expect.stringContaining(why) }] })
  expect(refsOf(plan)).toEqual([`portcullis/S/heads/${name}`])
})

test('a branch that can’t be set leaves the index alone', async () => {
  const plan = await planned(`echo x > x; git add x; ${commit('second')}`, `git checkout -q -b "$(printf 'gr\\366')"`)
  expect(plan).toMatchObject({ type: 'planned', head: { stayed: expect.stringContaining('is not UTF-8') } })
  const files = plan.type === 'planned' ? plan.git.writes.map(({ path }) => path) : []
  expect(files.filter((path) => /\.git\/(?:index|HEAD)$/.test(path))).toEqual([])
})

test('HEAD follows to a new branch', async () => {
  const plan = await planned(`git checkout -qb fix; ${commit('fix')}`)
  expect(plan).toMatchObject({
    type: 'planned',
    head: { moved: { branch: 'refs/heads/fix', from: 'refs/heads/main' } },
    refs: [],
    kept: [],
  })
})
