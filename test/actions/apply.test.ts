import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startGitHub, startJob, type Asked, type Step } from '../support/runner.ts'
import { tempDir } from '../support/temp-dir.ts'
import { patchSince } from '../../.github/actions/run/git.ts'

type Files = Readonly<Record<string, string | { readonly link: string }>>

const base: Files = { 'src/a.txt': 'one\n', 'src/gone.txt': 'gone\n', 'src/link': { link: 'a.txt' } }

/** Creates the bundle of a run that changed the files in `base` to those in `after`. */
function bundleOf(after: Files, change?: (patch: string) => string) {
  const folder = tempDir()
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  const put = (files: Files): void => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      rmSync(join(folder, name), { force: true })
      if (typeof content === 'string') writeFileSync(join(folder, name), content)
      else symlinkSync(content.link, join(folder, name))
    }
  }
  git('init', '--quiet')
  put(base)
  git('add', '--all')
  git('commit', '--quiet', '-m', 'base')
  const sha = git('rev-parse', 'HEAD').toString().trim()
  const tree = git('ls-tree', '-r', '-t', sha)
    .toString()
    .trim()
    .split('\n')
    .map((line) => {
      const [, mode, type, object, path] = /^(\d+) (\w+) (\w+)\t(.*)$/.exec(line) ?? []
      return { mode, type, sha: object, path }
    })
  const blob = (object: string): Buffer => execFileSync('git', ['-C', folder, 'cat-file', 'blob', object])
  for (const name of Object.keys(base)) if (!Object.hasOwn(after, name)) rmSync(join(folder, name))
  put(after)
  if (existsSync(join(folder, 'src/run.sh'))) chmodSync(join(folder, 'src/run.sh'), 0o755)
  const made = patchSince(folder, sha, tempDir())
  const patch = Buffer.from(change?.(made.patch.toString()) ?? made.patch)
  const bundle = tempDir()
  const hash = createHash('sha256').update(patch).digest('hex')
  writeFileSync(join(bundle, 'patch.diff'), patch)
  writeFileSync(join(bundle, 'manifest.json'), JSON.stringify({ version: 1, base: sha, patch_sha256: hash }))
  return { bundle, hash, sha, tree, blob }
}

type Bundle = ReturnType<typeof bundleOf>

/** Starts a simulated GitHub server that contains the base commit. */
function gitHubWith(
  { sha, tree, blob }: Bundle,
  more: (asked: Asked) => object | number | undefined = () => undefined,
) {
  let blobs = 0
  return startGitHub((asked) => {
    const { method, path } = asked
    const own = more(asked)
    if (own !== undefined) return own
    if (path === `/git/trees/${sha}?recursive=1`) return { truncated: false, tree }
    const read = /^\/git\/blobs\/(\w+)$/.exec(path)
    if (method === 'GET' && read !== null) return { content: blob(read[1] ?? '').toString('base64') }
    if (method === 'GET' && path === '') return { default_branch: 'main' }
    if (method === 'GET' && path.startsWith('/pulls?')) return []
    if (method === 'GET' && path.startsWith('/issues/')) return []
    if (method === 'POST')
      return { sha: `made-${path}-${blobs++}`, number: 12, html_url: 'https://github.com/owner/repo/pull/12' }
    return method === 'PATCH' ? {} : undefined
  })
}

async function apply(
  made: Bundle,
  inputs: Readonly<Record<string, string>> = {},
  more?: (asked: Asked) => object | number | undefined,
): Promise<Step & { readonly asked: readonly Asked[] }> {
  const github = await gitHubWith(made, more)
  const job = startJob({})
  const given = {
    'github-token': 'ghs_write',
    bundle: made.bundle,
    'patch-sha256': made.hash,
    'allowed-paths': 'src/**',
    title: 'Fix',
    ...inputs,
  }
  const step = await job.step('apply', given, { GITHUB_API_URL: github.url })
  return { ...step, asked: github.asked }
}

const written = (asked: readonly Asked[]): readonly string[] =>
  asked.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`)

const changed: Files = {
  'src/a.txt': 'two\n',
  'src/link': { link: 'a.txt' },
  'src/run.sh': '#!/bin/sh\n',
  'src/sub/b\u00e9.bin': '\0bin',
}

test('a patch becomes a commit on the base, a branch, a pull request and one comment, using only the API', async () => {
  const made = bundleOf(changed)
  const step = await apply(made, { 'comment-on': '7' })
  expect(step.code, step.log).toBe(0)
  const [tree, commit, ref, pull, comment] = [
    '/git/trees',
    '/git/commits',
    '/git/refs',
    '/pulls',
    '/issues/7/comments',
  ].map(
    (path) =>
      step.asked.find((one) => one.method === 'POST' && one.path === path)?.body as Readonly<Record<string, unknown>>,
  )
  expect(tree).toMatchObject({
    base_tree: made.sha,
    tree: [
      { path: 'src/a.txt', mode: '100644', sha: expect.any(String) },
      { path: 'src/gone.txt', sha: null },
      { path: 'src/run.sh', mode: '100755' },
      { path: 'src/sub/b\u00e9.bin', mode: '100644' },
    ],
  })
  const contents = step.asked.filter(({ path, method }) => method === 'POST' && path === '/git/blobs')
  expect(contents.map(({ body }) => Buffer.from((body as { content: string }).content, 'base64').toString())).toEqual([
    'two\n',
    '#!/bin/sh\n',
    '\0bin',
  ])
  expect(commit).toMatchObject({ message: 'Fix', parents: [made.sha] })
  expect(ref).toMatchObject({ ref: `refs/heads/portcullis/${made.hash.slice(0, 12)}` })
  expect(pull).toMatchObject({ base: 'main', title: 'Fix' })
  expect(comment?.['body']).toContain('#12')
  expect(step.outputs).toEqual({
    'pull-request': '12',
    url: 'https://github.com/owner/repo/pull/12',
    branch: `portcullis/${made.hash.slice(0, 12)}`,
  })
  expect(new Set(step.asked.map(({ token }) => token))).toEqual(new Set(['Bearer ghs_write']))
  expect(JSON.stringify(step.outputs) + step.environment + step.summary).not.toContain('ghs_write')
})

test('the second time, the branch is moved, the open pull request is kept, and the earlier comment is replaced', async () => {
  const made = bundleOf(changed)
  const comments = [
    { id: 1, body: '<!-- portcullis: one comment -->\nby a person', user: { type: 'User' } },
    { id: 2, body: '<!-- portcullis: one comment -->\nold', user: { type: 'Bot' } },
  ]
  const step = await apply(made, { 'comment-on': '7' }, ({ method, path }) => {
    if (method === 'POST' && path === '/git/refs') return 422
    if (method === 'GET' && path.startsWith('/pulls?')) return [{ number: 12, html_url: 'https://x/12' }]
    return method === 'GET' && path.startsWith('/issues/7/comments') ? comments : undefined
  })
  expect(step.code, step.log).toBe(0)
  expect(written(step.asked)).toContain('PATCH /issues/comments/2')
  expect(written(step.asked)).not.toContain('POST /pulls')
  expect(written(step.asked)).toContain(`PATCH /git/refs/heads/portcullis/${made.hash.slice(0, 12)}`)
})

test('a patch with one changed byte is refused, even if its manifest was changed to match', async () => {
  const made = bundleOf(changed)
  const file = join(made.bundle, 'patch.diff')
  const bytes = readFileSync(file)
  bytes[bytes.length - 2] = (bytes.at(-2) ?? 0) ^ 1
  writeFileSync(file, bytes)
  expect(await apply(made)).toMatchObject({ code: 1, asked: [], log: expect.stringContaining('its SHA-256 differs') })
  const hash = createHash('sha256').update(bytes).digest('hex')
  writeFileSync(join(made.bundle, 'manifest.json'), JSON.stringify({ base: made.sha, patch_sha256: hash }))
  expect(await apply(made)).toMatchObject({ code: 1, asked: [], log: expect.stringContaining('its SHA-256 differs') })
})

test.each<[string, Files, Readonly<Record<string, string>>, RegExp]>([
  ['a path that is not allowed', { ...base, 'other.txt': 'x' }, {}, /"other.txt" is not among 'allowed-paths'/],
  [
    'a workflow, under a star',
    { ...base, '.github/workflows/x.yml': 'x' },
    { 'allowed-paths': '**' },
    /controls other programs/,
  ],
  ['a hook of git', { ...base, '.husky/pre-commit': 'x' }, { 'allowed-paths': '**' }, /controls other programs/],
  ['instructions of agents', { ...base, 'src/AGENTS.md': 'x' }, {}, /controls other programs/],
  ['a lockfile', { ...base, 'src/package-lock.json': '{}' }, {}, /controls other programs/],
  ['one file too many', changed, { 'max-files': '3' }, /changes 4 files, but the limit is 3/],
  ['a byte too much', changed, { 'max-bytes': '100' }, /but only 100 are allowed/],
  ['a new link', { ...base, 'src/new': { link: '/etc/passwd' } }, {}, /something other than a regular file/],
  [
    'a link that is changed',
    { ...base, 'src/link': { link: '/etc' } },
    {},
    /not a regular file in the patch's base commit/,
  ],
  ['a name with a line feed', { ...base, 'src/a\nb': 'x' }, {}, /is not a safe path for a file/],
])('%s is refused, and nothing is written', async (_, files, inputs, why) => {
  const step = await apply(bundleOf(files), inputs)
  expect(step).toMatchObject({ code: 1, outputs: {}, log: expect.stringMatching(why) })
  expect(written(step.asked)).toEqual([])
})

test('a guarded file may change if a pattern names it', async () => {
  const step = await apply(bundleOf({ ...base, '.github/workflows/x.yml': 'x' }), {
    'allowed-paths': '.github/workflows/*.yml',
  })
  expect(step.code, step.log).toBe(0)
})

test.each([
  ['out of the tree', (patch: string) => patch.replaceAll('src/a.txt', 'src/../../a.txt')],
  ['to another base', (patch: string) => patch.replace('-one', '-another')],
])('a patch that leads %s is refused', async (_, change) => {
  const step = await apply(bundleOf({ ...base, 'src/a.txt': 'two\n' }, change))
  expect(step.code).toBe(1)
  expect(written(step.asked)).toEqual([])
})

test('an empty patch leads to no proposal', async () => {
  expect(await apply(bundleOf(base))).toMatchObject({ code: 0, asked: [], outputs: { 'pull-request': '' } })
})

test('git is never run in the workspace, which may be a trap', async () => {
  const made = bundleOf(changed)
  const github = await gitHubWith(made)
  const job = startJob({})
  const trap = join(job.home, 'trapped')
  writeFileSync(join(job.workspace, '.git/hooks/post-applypatch'), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 })
  for (const key of ['core.fsmonitor', 'core.pager', 'filter.x.clean', 'filter.x.smudge']) {
    execFileSync('git', ['-C', job.workspace, 'config', key, `touch ${trap}`])
  }
  writeFileSync(join(job.home, '.gitconfig'), `[core]\n\tfsmonitor = touch ${trap}\n`)
  const inputs = { 'github-token': 't', bundle: made.bundle, 'patch-sha256': made.hash, 'allowed-paths': 'src/**' }
  expect((await job.step('apply', inputs, { GITHUB_API_URL: github.url })).code).toBe(0)
  expect(existsSync(trap)).toBe(false)
})
