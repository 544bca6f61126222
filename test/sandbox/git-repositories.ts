import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { beforeEach } from 'vitest'
import { temporaryDirectory } from './helpers.ts'

const identity = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b',
}

/** Runs the host's git. If it fails, throws its error message. */
export function git(directory: string, ...words: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync('git', ['-C', directory, '-c', 'protocol.file.allow=always', ...words], {
    encoding: 'utf8',
    env: { ...process.env, ...identity },
  })
  if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** Creates a repository with a commit on `main`, a branch `other`, and an author's name and email address for commits. */
export async function repository(): Promise<string> {
  const directory = await temporaryDirectory()
  initialise(directory)
  return directory
}

/** Turns a directory into a repository with a commit on `main`, a branch `other`, and an author's name and email address for commits. */
export function initialise(directory: string): void {
  git('/', 'init', '-q', '-b', 'main', directory)
  git(directory, 'config', 'user.name', 'a')
  git(directory, 'config', 'user.email', 'a@b')
  spawnSync('sh', ['-c', 'echo one > file'], { cwd: directory })
  git(directory, 'add', 'file')
  git(directory, 'commit', '-q', '-m', 'first')
  git(directory, 'branch', 'other')
}

/** A directory at which commands see a stored one, as they see a run's view: the workspace, and the views of a policy. */
export async function asView(
  stored: string,
): Promise<{ workspace: string; views: [{ path: string; source: string }] }> {
  const workspace = await temporaryDirectory()
  return { workspace, views: [{ path: workspace, source: stored }] }
}

/** Gives each of the following tests its own directory for state, including the quarantine. */
export function ownStateDirectory(): void {
  beforeEach(async () => {
    const before = process.env['XDG_STATE_HOME']
    process.env['XDG_STATE_HOME'] = join(await temporaryDirectory(), 'state')
    return () => {
      if (before === undefined) delete process.env['XDG_STATE_HOME']
      else process.env['XDG_STATE_HOME'] = before
    }
  })
}
