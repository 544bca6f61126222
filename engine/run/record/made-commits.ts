import type { Sandbox } from '../../../sandbox/index.ts'
import type { RunRecord } from '../../core/events.ts'
import { runGit } from '../../core/sandboxed-git.ts'

/** How long a run waits for git's answer. In a huge repository, git may take longer; the record then says that the commits are unknown. */
const patienceMs = 1500
const mostTold = 50

/**
 * Asks git for the commits that were made since a run began and that a branch, a tag or `HEAD` reaches, newest first. What was only fetched doesn't count. Git
 * runs in the sandbox and can't write anything.
 *
 * @param began when the run began, in milliseconds since 1970
 * @param head the commit that was checked out then; undefined if that isn't known
 * @returns null if git fails or takes too long
 */
export async function madeCommits(
  { sandbox, workspace }: { readonly sandbox: Sandbox; readonly workspace: string },
  began: number,
  head: string | undefined,
): Promise<RunRecord['commits']> {
  const refs = [
    '--exclude=refs/stash',
    '--exclude=refs/remotes/*',
    '--all',
    ...(head === undefined ? [] : ['--not', head]),
  ]
  const words = [
    'log',
    '--no-show-signature',
    '--format=%H %s',
    `--since=@${Math.floor(began / 1000)}`,
    `-n${mostTold}`,
    ...refs,
  ]
  const signal = AbortSignal.timeout(patienceMs)
  const { ok, output } = await runGit(sandbox, words, { cwd: workspace, readOnly: true, signal })
  if (!ok) return null
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      commit: line.slice(0, line.indexOf(' ')),
      subject: line.slice(line.indexOf(' ') + 1).slice(0, 200),
    }))
}
