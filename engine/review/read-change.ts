import type { Sandbox } from '../../sandbox/index.ts'
import { readGit, runGit } from '../core/sandboxed-git.ts'
import { UserError } from '../core/user-error.ts'
import type { ReviewTarget } from './review-request.ts'

/** A change to review. */
type Change = {
  readonly diff: string
  /** A description of the change, such as `the uncommitted changes`. */
  readonly of: string
  /** A command that shows more of the change; undefined for a diff that the caller supplied. */
  readonly command: string | undefined
  /** Reads a file in its state after the change. Returns undefined if the file can't be read. */
  readonly read: (path: string) => Promise<Buffer | undefined>
}

/** Where git runs for a review. It always runs in the sandbox, and never writes. */
type ReviewPlace = { readonly sandbox: Sandbox; readonly cwd: string; readonly signal: AbortSignal }

const mostDiffBytes = 32 * 1024 * 1024
const mostFileBytes = 4 * 1024 * 1024
const mostUntracked = 500

/** The subcommand `diff`, and options that make its output independent of the user's configuration. */
const plain = [
  'diff',
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--relative', '--find-renames', '--submodule=short'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--unified=5'],
]

/**
 * Gets the change to review.
 *
 * @throws UserError `usage` if the commit or branch doesn't exist, if git can't show the change, or if too many files are untracked
 */
export async function readChange(target: ReviewTarget, place: ReviewPlace): Promise<Change> {
  switch (target.type) {
    case 'uncommitted':
      return {
        diff: (await diff(place, [await headOrNothing(place)])) + (await untracked(place)),
        of: 'the uncommitted changes',
        command: 'git diff HEAD',
        read: (path) => readTree(place, path),
      }
    case 'base': {
      const base = await ancestor(place, target.branch)
      return {
        diff: await diff(place, [base]),
        of: `the changes since ${target.branch}`,
        command: `git diff ${base}`,
        read: (path) => readTree(place, path),
      }
    }
    case 'commit': {
      const commit = await commitOf(place, target.commit)
      if (commit === undefined) throw refused(`--commit ${target.commit}: this repository has no such commit.`)
      const parent = (await commitOf(place, `${commit}^1`)) ?? (await emptyTree(place))
      return {
        diff: await diff(place, [parent, commit]),
        of: `the commit ${target.commit}`,
        command: `git diff ${parent} ${commit}`,
        read: (path) => readBlob(place, `${commit}:./${path}`),
      }
    }
    case 'diff':
      return { diff: target.text, of: 'the diff', command: undefined, read: (path) => readTree(place, path) }
    default:
      return target satisfies never
  }
}

const refused = (message: string): UserError => new UserError('usage', message)

const unreadable = (why: string): UserError => refused(`The change can't be reviewed: ${why}.`)

/**
 * Runs git in the sandbox and returns what it prints. Throws UserError `usage` if git fails or prints too much.
 *
 * @param codes the exit codes with which git reports success. Default: 0
 */
async function outputOf({ sandbox, cwd, signal }: ReviewPlace, words: readonly string[], codes = [0]): Promise<string> {
  const bytes = await readGit(sandbox, words, { cwd, readOnly: true, signal }, mostDiffBytes, codes)
  if (typeof bytes === 'string') throw unreadable(bytes)
  return bytes.toString()
}

async function diff(place: ReviewPlace, words: readonly string[]): Promise<string> {
  return outputOf(place, [...plain, ...words, '--'])
}

/** Returns a diff in which the untracked files appear as added files. */
async function untracked(place: ReviewPlace): Promise<string> {
  const listed = await outputOf(place, ['ls-files', '--others', '--exclude-standard', '-z'])
  const paths = listed.split('\0').filter(Boolean)
  if (paths.length > mostUntracked) {
    throw refused(
      `${paths.length} files are untracked, more than the limit of ${mostUntracked} for a review. Name generated files in .gitignore, or git add the files to review and give --base.`,
    )
  }
  const diffs: string[] = []
  for (const path of paths) {
    // git exits with code 1 if there is a difference.
    const words = [...plain.filter((word) => word !== '--relative'), '--no-index', '--', '/dev/null', path]
    diffs.push(await outputOf(place, words, [0, 1]))
  }
  return diffs.join('')
}

/** The commit that is checked out; before the first commit, the empty tree. */
async function headOrNothing(place: ReviewPlace): Promise<string> {
  return (await commitOf(place, 'HEAD')) ?? (await emptyTree(place))
}

async function commitOf({ sandbox, cwd, signal }: ReviewPlace, name: string): Promise<string | undefined> {
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
  const { ok, output } = await runGit(sandbox, words, { cwd, readOnly: true, signal })
  return ok ? output : undefined
}

async function emptyTree({ sandbox, cwd, signal }: ReviewPlace): Promise<string> {
  const words = ['hash-object', '-t', 'tree', '/dev/null']
  const { ok, output, complaint } = await runGit(sandbox, words, { cwd, readOnly: true, signal })
  if (!ok) throw unreadable(complaint)
  return output
}

/** The common ancestor of a branch and the checked-out commit. If only the remote has the branch, as in CI, the remote's branch is used. */
async function ancestor(place: ReviewPlace, branch: string): Promise<string> {
  const base = (await commitOf(place, branch)) ?? (await commitOf(place, `refs/remotes/origin/${branch}`))
  if (base === undefined)
    throw refused(`--base ${branch}: this repository has no such branch or commit. Run git fetch to get it.`)
  const { sandbox, cwd, signal } = place
  const { ok, output } = await runGit(sandbox, ['merge-base', base, 'HEAD'], { cwd, readOnly: true, signal })
  if (ok) return output
  throw refused(
    `--base ${branch}: it has no common ancestor with the checked-out commit here. A shallow clone has too little history: run git fetch --unshallow, or set fetch-depth: 0 for actions/checkout.`,
  )
}

async function readBlob({ sandbox, cwd, signal }: ReviewPlace, name: string): Promise<Buffer | undefined> {
  const bytes = await readGit(sandbox, ['cat-file', 'blob', name], { cwd, readOnly: true, signal }, mostFileBytes)
  return typeof bytes === 'string' ? undefined : bytes
}

/** Reads a file of the working tree in the sandbox, so that a review can't read files that are hidden from commands. */
async function readTree({ sandbox, cwd, signal }: ReviewPlace, path: string): Promise<Buffer | undefined> {
  const child = sandbox.spawn({ argv: ['cat', '--', path], cwd, readOnly: true, signal, timeoutMs: 60_000 })
  const chunks: Buffer[] = []
  let length = 0
  child.stdout.on('data', (bytes: Buffer) => {
    length += bytes.length
    if (length <= mostFileBytes) chunks.push(bytes)
  })
  child.stderr.resume()
  const result = await child.result
  return result.status === 'exited' && result.code === 0 && length <= mostFileBytes ? Buffer.concat(chunks) : undefined
}
