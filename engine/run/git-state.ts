import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readHostFile, type Sandbox } from '../../sandbox/index.ts'
import { runGit } from '../core/sandboxed-git.ts'
import { counted } from '../core/text/counted.ts'

/** The state of a repository. */
type GitState = {
  /** The checked-out branch; undefined if there is none. */
  readonly branch: string | undefined
  /** Files that differ from the last commit, including new ones, in git's short form: `M src/a.ts`. */
  readonly files: readonly string[]
}

/** The checked-out branch, and the unfinished git operation, such as `rebase` or `merge`; each is undefined if there is none. */
type GitHead = { readonly branch: string | undefined; readonly doing: string | undefined }

/** Files in a git directory that show an unfinished operation (gitrepository-layout(5), wt-status.c). */
const unfinished: readonly (readonly [string, string])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
]

/**
 * Reads what is checked out in a work tree. It doesn't start git, because starting a program takes time, and the model may never need the answer.
 *
 * @param root the top directory of the work tree
 * @returns undefined if there is no repository
 */
export function readHead(root: string): GitHead | undefined {
  const text = (path: string): string | undefined => readHostFile(path, { maxBytes: 4096 })?.toString('utf8').trim()
  // In a linked work tree, `.git` is a file that contains the path of the git directory.
  const linked = /^gitdir: (.+)$/.exec(text(join(root, '.git')) ?? '')?.[1]
  const directory = linked === undefined ? join(root, '.git') : resolve(root, linked)
  const head = text(join(directory, 'HEAD'))
  if (head === undefined) return undefined
  const doing = unfinished.find(([name]) => existsSync(join(directory, name)))?.[1]
  return { branch: /^ref: refs\/heads\/(.+)$/.exec(head)?.[1], doing }
}

/**
 * Identifies the branch and the commit that are checked out at or above a directory, without starting git. Undefined if there is no repository. For a
 * branch in packed refs, only the branch's name is returned; for reftables, the placeholder that `HEAD` contains.
 */
export function headMark(directory: string): string | undefined {
  const text = (path: string): string | undefined => readHostFile(path, { maxBytes: 4096 })?.toString('utf8').trim()
  const git = join(directory, '.git')
  const linked = /^gitdir: (.+)$/.exec(text(git) ?? '')?.[1]
  const admin = linked === undefined ? git : resolve(directory, linked)
  const head = text(join(admin, 'HEAD'))
  if (head === undefined) return dirname(directory) === directory ? undefined : headMark(dirname(directory))
  const common = resolve(admin, text(join(admin, 'commondir')) ?? '.')
  const ref = /^ref: (refs\/.+)$/.exec(head)?.[1]
  return `${head} ${ref === undefined ? '' : (text(join(common, ref)) ?? '')}`
}

/** Describes what is checked out, in one line. */
export function describeHead(head: GitHead | undefined): string {
  if (head === undefined) return 'no repository'
  const doing = head.doing === undefined ? '' : `, in the middle of a ${head.doing}`
  return `${describeBranch(head.branch)}${doing}; changes that were uncommitted when this run started are not yours`
}

/** How long a run waits for git's answer. In a huge tree, git may take longer, and the model then has to run git itself. */
const patienceMs = 1500

/**
 * Asks git about the state of the tree. Git runs in the sandbox and can't write anything.
 *
 * @returns undefined if there is no repository, or if git fails or takes too long
 */
export async function gitState(sandbox: Sandbox, workspace: string): Promise<GitState | undefined> {
  const words = ['status', '--porcelain=v1', '--branch', '--ignore-submodules=all', '--', '.']
  const signal = AbortSignal.timeout(patienceMs)
  const { ok, output } = await runGit(sandbox, words, { cwd: workspace, readOnly: true, signal })
  if (!ok) return undefined
  const [head = '', ...files] = output.split('\n')
  const said = head.replace(/^## (?:No commits yet on )?/, '')
  // Three dots separate the branch from its upstream branch. No branch name contains two dots in a row.
  const branch = said.startsWith('HEAD (no branch)') ? undefined : said.split('...')[0]?.split(' ')[0]
  return { branch, files: files.map((line) => line.trim()).filter((line) => line !== '') }
}

/**
 * Describes the state of a repository in one line, without file names. An unusual name of a branch is left out too, because it could contain
 * instructions.
 */
export function describeGit(state: GitState | undefined): string {
  if (state === undefined) return 'no repository, or its state is not known'
  const { branch, files } = state
  const where = describeBranch(branch)
  return `${where}, ${files.length === 0 ? 'clean' : `${counted(files.length, 'file')} changed or new since the last commit`}`
}

function describeBranch(branch: string | undefined): string {
  if (branch === undefined) return 'no branch'
  return `branch ${/^[\w./-]{1,100}$/.test(branch) ? branch : '(with an unusual name)'}`
}
