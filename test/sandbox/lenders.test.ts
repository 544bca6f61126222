import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openFor, run, temporaryDirectory, testInBubblewrap as test } from './helpers.ts'

const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { encoding: 'utf8' }).trim()

/** A repository with one commit, in a directory that commands don't see. */
async function hidden(): Promise<{ readonly path: string; readonly commit: string }> {
  const path = await temporaryDirectory()
  git('init', '-q', path)
  git('-C', path, 'commit', '-q', '--allow-empty', '-m', 'theirs')
  return { path, commit: git('-C', path, 'rev-parse', 'HEAD') }
}

test('a repository that a command makes shows it no directory, whichever it names', async () => {
  const other = await hidden()
  const [workspace, source] = [await temporaryDirectory(), await temporaryDirectory()]
  for (const views of [[], [{ path: workspace, source }]]) {
    const sandbox = await openFor({ mode: 'workspace-write', workspace, views })
    const name = `made-${views.length}`
    await run(
      sandbox,
      `git init -q ${name}; mkdir -p ${name}/.git/objects/info; echo ${other.path}/.git/objects > ${name}/.git/objects/info/alternates`,
    )
    const look = `ls -A ${other.path}; cd ${name}; git cat-file -p ${other.commit}`
    expect((await run(sandbox, look)).stdout).toBe('')
    await sandbox.close()
    // The next program finds the repository there from the start.
    const later = await openFor({ mode: 'workspace-write', workspace, views })
    expect((await run(later, look)).stdout).toBe('')
    expect((await run(later, look, { readOnly: true })).stdout).toBe('')
  }
})

test('a repository in a view borrows what the original has and borrows', async () => {
  const other = await hidden()
  const [workspace, source] = [await temporaryDirectory(), await temporaryDirectory()]
  git('clone', '-q', '--shared', other.path, workspace)
  git('clone', '-q', '--shared', workspace, join(source, 'view'))
  const lenders = [workspace, other.path].map((path) => `${path}/.git/objects\n`)
  writeFileSync(join(source, 'view/.git/objects/info/alternates'), lenders.join(''))
  const views = [{ path: workspace, source: join(source, 'view') }]
  const sandbox = await openFor({ mode: 'workspace-write', workspace, views })
  expect((await run(sandbox, `git cat-file -p ${other.commit}`)).stdout).toContain('theirs')
})

test('what a tree names that came with a repository is shown only if it is a repository’s', async () => {
  const [workspace, secret] = [await temporaryDirectory(), await temporaryDirectory()]
  git('init', '-q', workspace)
  mkdirSync(join(workspace, '.git/objects/info'), { recursive: true })
  writeFileSync(join(workspace, '.git/objects/info/alternates'), `${secret}\n`)
  writeFileSync(join(secret, 'key'), 'secret')
  const sandbox = await openFor({ mode: 'read-only', workspace })
  expect((await run(sandbox, `cat ${secret}/key`)).stdout).toBe('')
})
