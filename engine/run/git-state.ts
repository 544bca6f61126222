import type { Sandbox } from '../../sandbox/index.ts'
import { runGit } from '../core/git.ts'

/** How a repository stands. */
export type GitState = {
  /** Undefined where no branch is checked out. */
  readonly branch: string | undefined
  /** Files that differ from the last commit, new ones among them, in git's short form: `M src/a.ts`. */
  readonly files: readonly string[]
}

/** How long a run waits to be told: of a huge tree the model finds it out itself. */
const patienceMs = 1500

/**
 * Asks git how the tree stands, in the sandbox, where it may write nothing.
 *
 * @returns undefined where there is no repository, or git can't say or takes too long
 */
export async function gitState(sandbox: Sandbox, workspace: string): Promise<GitState | undefined> {
  const words = ['status', '--porcelain=v1', '--branch', '--ignore-submodules=all', '--', '.']
  const signal = AbortSignal.timeout(patienceMs)
  const { ok, output } = await runGit(sandbox, words, { cwd: workspace, readOnly: true, signal })
  if (!ok) return undefined
  const [head = '', ...files] = output.split('\n')
  const said = head.replace(/^## (?:No commits yet on )?/, '')
  // Behind dots, which no branch's name has twice, stands what it follows.
  const branch = said.startsWith('HEAD (no branch)') ? undefined : said.split('...')[0]?.split(' ')[0]
  return { branch, files: files.map((line) => line.trim()).filter((line) => line !== '') }
}

/** The state in one line. Names of files are left to whoever looks: they may be anybody's words. */
export function describeGit(state: GitState | undefined): string {
  if (state === undefined) return 'no repository, or its state is not known'
  const { branch, files } = state
  const isPlain = branch !== undefined && /^[\w./-]{1,100}$/.test(branch)
  const where = branch === undefined ? 'no branch' : `branch ${isPlain ? branch : '(with an odd name)'}`
  const count = files.length === 1 ? '1 file' : `${files.length} files`
  return `${where}, ${files.length === 0 ? 'clean' : `${count} changed or new since the last commit, not by you`}`
}
