import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { GitHubError, openGitHub, type GitHub } from '../shared/github.ts'
import {
  ActionError,
  addSummary,
  asCode,
  chosenInput,
  command,
  input,
  lines,
  requiredInput,
  runAction,
  setOutput,
  variable,
  wholeNumber,
} from '../shared/runner.ts'
import { checkEvidence, readEvidence } from './check-evidence.ts'
import { checkPaths, readPatch } from './check.ts'
import { applyPatch, filesOf, type Before, type Patched } from './patched-files.ts'

const marker = '<!-- portcullis: one comment -->'

/** Opens a pull request with a run's patch, using only GitHub's API: there is no checkout, so no code of the repository can run. */
async function main(): Promise<number> {
  const token = requiredInput('github-token')
  command('add-mask', token)
  const limits = {
    allowed: lines('allowed-paths'),
    maxFiles: wholeNumber('max-files', 50),
    maxBytes: wholeNumber('max-bytes', 1_000_000),
  }
  const hash = requiredInput('patch-sha256')
  const { patch, base } = readPatch(requiredInput('bundle'), hash, limits.maxBytes)
  const keys = chosenInput('evidence-public-key')
  const github = openGitHub(token)
  if (patch.length === 0) {
    command('notice', 'The patch is empty: there is nothing to propose.', 'Portcullis')
    for (const name of ['pull-request', 'url', 'branch']) setOutput(name, '')
    return 0
  }
  const signed = keys === '' ? undefined : readEvidence(requiredInput('bundle'), keys, base)
  const temp = mkdtempSync(join(variable('RUNNER_TEMP'), 'apply-'))
  try {
    const files = filesOf(patch, temp)
    checkPaths(files, limits)
    const before = await readBefore(github, base, files)
    const patched = applyPatch(patch, files, before, temp)
    if (signed !== undefined) checkEvidence(patched, signed)
    const branch = input('branch') || `portcullis/${hash.slice(0, 12)}`
    if (!/^[A-Za-z0-9][\w./-]*$/.test(branch) || /\.\.|\/\/|\.lock$|\/$/.test(branch))
      throw new ActionError(`'${branch}' is not a valid name for a branch.`)
    const target = input('base') || (await defaultBranch(github))
    if (branch === target) throw new ActionError("'branch' and 'base' are the same: a pull request needs two branches.")
    await makeBranch(github, branch, await commit(github, base, patched))
    const pull = await openPull(github, branch, target, files)
    setOutput('pull-request', String(pull.number))
    setOutput('url', pull.html_url)
    setOutput('branch', branch)
    const told = input('comment-on')
    if (told !== '')
      await comment(
        github,
        wholeNumber('comment-on', 0),
        `The run's patch is in pull request #${pull.number}.\n\n${asCode(files.join('\n'), 10_000)}`,
      )
    const proof = signed === undefined ? '' : '\nEach file is identical to the version in the signed evidence.\n'
    addSummary(`## Pull request #${pull.number}\n\n${asCode(files.join('\n'))}\n${proof}`)
    return 0
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

/** Returns the contents of `files` in the commit `base`. Files that the commit doesn't contain are left out. */
async function readBefore(
  github: GitHub,
  base: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, Before>> {
  const tree = (await github('GET', `/git/trees/${base}?recursive=1`)) as {
    readonly truncated: boolean
    readonly tree: readonly {
      readonly path: string
      readonly mode: string
      readonly type: string
      readonly sha: string
    }[]
  }
  if (tree.truncated)
    throw new ActionError('The repository has more files than GitHub lists in one answer. Nothing is applied.')
  const entries = new Map(tree.tree.map((entry) => [entry.path, entry]))
  const before = new Map<string, Before>()
  for (const path of files) {
    const folders = path
      .split('/')
      .slice(0, -1)
      .map((_, at, parts) => parts.slice(0, at + 1).join('/'))
    for (const folder of folders) {
      const entry = entries.get(folder)
      if (entry !== undefined && entry.type !== 'tree')
        throw new ActionError(`${JSON.stringify(folder)} is not a folder in the patch's base commit.`)
    }
    const entry = entries.get(path)
    if (entry === undefined) continue
    const blob = (await github('GET', `/git/blobs/${entry.sha}`)) as { readonly content: string }
    before.set(path, {
      mode: entry.type === 'blob' ? entry.mode : entry.type,
      content: Buffer.from(blob.content, 'base64'),
    })
  }
  return before
}

async function commit(github: GitHub, base: string, patched: readonly Patched[]): Promise<string> {
  const tree: object[] = []
  for (const { path, mode, content } of patched) {
    if (content === null) tree.push({ path, mode, type: 'blob', sha: null })
    else {
      const { sha } = (await github('POST', '/git/blobs', {
        content: content.toString('base64'),
        encoding: 'base64',
      })) as Made
      tree.push({ path, mode, type: 'blob', sha })
    }
  }
  const made = (await github('POST', '/git/trees', { base_tree: base, tree })) as Made
  const done = (await github('POST', '/git/commits', {
    message: input('title'),
    tree: made.sha,
    parents: [base],
  })) as Made
  return done.sha
}

type Made = { readonly sha: string }

/** Creates the branch. An existing branch is moved to the commit, but only if its name begins with `portcullis/`, as this action's own names do. */
async function makeBranch(github: GitHub, branch: string, sha: string): Promise<void> {
  try {
    await github('POST', '/git/refs', { ref: `refs/heads/${branch}`, sha })
  } catch (error) {
    if (!(error instanceof GitHubError) || error.status !== 422) throw error
    if (!branch.startsWith('portcullis/'))
      throw new ActionError(
        `GitHub refuses to create the branch ${branch}. Only existing branches in 'portcullis/' are overwritten.`,
      )
    await github('PATCH', `/git/refs/heads/${branch}`, { sha, force: true })
  }
}

async function defaultBranch(github: GitHub): Promise<string> {
  return ((await github('GET', '')) as { readonly default_branch: string }).default_branch
}

type Pull = { readonly number: number; readonly html_url: string }

async function openPull(github: GitHub, branch: string, base: string, files: readonly string[]): Promise<Pull> {
  const [owner = ''] = variable('GITHUB_REPOSITORY').split('/')
  const open = (await github(
    'GET',
    `/pulls?state=open&head=${encodeURIComponent(`${owner}:${branch}`)}&base=${encodeURIComponent(base)}`,
  )) as readonly Pull[]
  if (open[0] !== undefined) return open[0]
  const body = `An agent changed these files. Nobody has reviewed them yet.\n\n${asCode(files.join('\n'), 10_000)}`
  return (await github('POST', '/pulls', { title: input('title'), head: branch, base, body })) as Pull
}

/**
 * Updates the comment that a bot wrote and that begins with this action's marker, or adds such a comment if there is none. A person's comment is
 * never changed.
 */
async function comment(github: GitHub, number: number, text: string): Promise<void> {
  const body = `${marker}\n${text}`
  for (let page = 1; page <= 30; page++) {
    const list = (await github('GET', `/issues/${number}/comments?per_page=100&page=${page}`)) as readonly {
      readonly id: number
      readonly body?: string
      readonly performed_via_github_app?: object | null
      readonly user?: { readonly type: string }
    }[]
    const own = list.find((one) => one.body?.startsWith(marker) === true && one.user?.type === 'Bot')
    if (own !== undefined) {
      await github('PATCH', `/issues/comments/${own.id}`, { body })
      return
    }
    if (list.length < 100) break
  }
  await github('POST', `/issues/${number}/comments`, { body })
}

await runAction(main)
