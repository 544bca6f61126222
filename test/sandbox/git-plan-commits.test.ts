import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planCommits, type PlannedCommits } from '../../sandbox/index.ts'
import { tempDir } from '../support/temp-dir.ts'

const commit = (message: string): string =>
  `git -c user.name=x -c user.email=x@x commit -qm ${message} --allow-empty --no-verify`

/** A repository with one commit, and a clone of it in which the commands of `script` have run. Plans the import of the clone's commits. */
async function planned(script: string): Promise<PlannedCommits> {
  const folder = tempDir()
  const run = (...lines: readonly string[]): Buffer => execFileSync('sh', ['-ec', lines.join('\n')], { cwd: folder })
  run('git init -q -b main host', `cd host; ${commit('first')}`)
  run('git clone -q --no-hardlinks host view', 'cd view', script)
  const at = (name: string) => ({ own: join(folder, name, '.git'), common: join(folder, name, '.git') })
  return planCommits({ from: at('view'), to: at('host'), ref: 'refs/heads/portcullis/S', roots: ['/nowhere'] })
}

const refsOf = (plan: PlannedCommits): readonly string[] =>
  plan.type === 'planned' ? plan.refs.map(({ ref = '' }) => ref.replace('refs/heads/portcullis/', '')) : []

test('commits are imported although those of another branch cannot be read, and the reason is said', async () => {
  const plan = await planned(`
    git checkout -qb broken; echo x > x; git add x; ${commit('broken')}; tree=$(git rev-parse 'HEAD^{tree}')
    git checkout -qb good main; ${commit('good')}
    git checkout -q main; ${commit('second')}
    rm -f .git/objects/$(echo $tree | sed 's,..,&/,')`)
  expect(plan).toMatchObject({ type: 'planned', left: expect.stringContaining('branch-broken') })
  expect(refsOf(plan)).toEqual(['S', 'S-branch-good'])
})

test('objects among which there is a pipe are not read, because git would wait there', async () => {
  const pipe = `.git/objects/ab/${'c'.repeat(38)}`
  const plan = await planned(`${commit('second')}; mkdir -p .git/objects/ab; mkfifo ${pipe}`)
  expect(plan).toMatchObject({ type: 'failed', why: expect.stringContaining('links or pipes') })
})

test('a file in place of the directory of packs is no reason to fail', async () => {
  expect((await planned(`${commit('second')}; rm -rf .git/objects/pack; touch .git/objects/pack`)).type).toBe('planned')
})

test('commits that were only fetched are left out, with the tags that came along', async () => {
  const plan = await planned(`
    git clone -q . ../other; cd ../other; ${commit('upstream')}; git tag v1; cd ../view
    git fetch -q --tags ../other main:refs/remotes/other/main
    git checkout -qb own; ${commit('own')}; git checkout -q main`)
  expect(refsOf(plan)).toEqual(['S-branch-own'])
})

test('nothing is planned if the repository has all commits', async () => {
  expect(await planned('git branch same; git tag also')).toEqual({ type: 'complete' })
})
