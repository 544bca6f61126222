import { spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { openSandbox, parsePolicy } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'

function git(directory: string, ...args: readonly string[]): string {
  const named = ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]
  const { stdout, stderr, status } = spawnSync('git', named, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

async function repository(): Promise<string> {
  const directory = join(await temporaryDirectory(), 'repository')
  await mkdir(directory)
  git(directory, 'init', '-q')
  git(directory, 'commit', '-q', '--allow-empty', '-m', 'first')
  return directory
}

async function worktree(): Promise<string> {
  const directory = join(await temporaryDirectory(), 'tree')
  git(await repository(), 'worktree', 'add', '-q', directory)
  return directory
}

async function belowReadOnly(): Promise<string> {
  const directory = await repository()
  await chmod(dirname(directory), 0o555)
  onTestFinished(() => chmod(dirname(directory), 0o755))
  return directory
}

describeInBoth('in %s', ({ backend, test, readableRoots }) => {
  test.each([
    ['a fresh repository', repository],
    ['a linked worktree', worktree],
    ['a repository in a directory that is read-only', belowReadOnly],
  ])('a command that does nothing leaves nothing in %s, nor beside it', async (_, make) => {
    const workspace = await make()
    const listing = async () => [await readdir(workspace), await readdir(dirname(workspace))]
    const before = await listing()
    for (const mode of ['read-only', 'workspace-write'] as const) {
      const sandbox = closeLater(await openSandbox(parsePolicy({ mode, workspace, readableRoots }), { backend, image }))
      expect((await run(sandbox, 'true')).result).toMatchObject({ status: 'exited', code: 0, denials: [] })
      await sandbox.close()
      expect(git(workspace, 'status', '--porcelain', '--ignored')).toBe('')
      expect(await listing()).toEqual(before)
    }
  })
})
