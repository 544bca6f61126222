import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { onOverlay, outputOf, reportOf, whyNoOverlay } from './overlay-runs.ts'

needsBubblewrap()

const by = ['-c', 'user.name=x', '-c', 'user.email=x@x', '-c', 'protocol.file.allow=always']
const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', [...by, ...words], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd()
const commit = 'git -c user.name=x -c user.email=x@x commit -q'

/** A repository with a commit of these files. */
function committed(files: Readonly<Record<string, string>>): string {
  const cwd = repository({ ...files, '.gitignore': 'out\n' })
  git(cwd, 'checkout', '-qb', 'main')
  git(cwd, 'add', '.')
  git(cwd, 'commit', '-qm', 'first')
  return cwd
}

function linkedWorktree(name = 'linked', branch = 'side'): string {
  const linked = join(tempDir(), name)
  git(committed({ 'a.txt': 'a\n', 'b.txt': 'b\n' }), 'worktree', 'add', '-q', '-b', branch, linked)
  return linked
}

/** A repository with a submodule that has a branch checked out. */
function withSubmodule(name = 'lib'): string {
  const [library, cwd] = [committed({ 'l.txt': 'l\n' }), committed({ 'a.txt': 'a\n' })]
  git(cwd, 'submodule', '--quiet', 'add', library, name)
  git(cwd, 'commit', '-qm', 'second')
  git(join(cwd, name), 'checkout', '-qB', 'main')
  return cwd
}

const kinds = [
  [
    'a tree on a branch that is not ASCII',
    () => {
      const cwd = committed({ 'a.txt': 'a\n' })
      git(cwd, 'checkout', '-qb', 'feature/größe')
      return cwd
    },
    '',
  ],
  [
    'a tree with a line feed and quotes in its path',
    () => {
      const cwd = join(tempDir(), 'a\n"b"')
      renameSync(committed({ 'a.txt': 'a\n' }), cwd)
      return cwd
    },
    '',
  ],
  [
    'a tree whose objects are elsewhere, behind a link',
    () => {
      const [cwd, elsewhere] = [committed({ 'a.txt': 'a\n' }), join(tempDir(), 'objects')]
      renameSync(join(cwd, '.git/objects'), elsewhere)
      symlinkSync(elsewhere, join(cwd, '.git/objects'))
      return cwd
    },
    '',
  ],
  [
    'a tree with a separate git directory that names the tree',
    () => {
      const cwd = committed({ 'a.txt': 'a\n' })
      git(cwd, 'init', '-q', '--separate-git-dir', join(tempDir(), 'separate.git'))
      git(cwd, 'config', 'core.worktree', cwd)
      return cwd
    },
    '',
  ],
  ['a linked worktree', linkedWorktree, ''],
  ['a linked worktree whose names are not ASCII', () => linkedWorktree('wörk', 'größe'), ''],
  ['a tree with a submodule whose name is not ASCII, in that', () => withSubmodule('lïb'), 'lïb'],
  ['a submodule', () => join(withSubmodule(), 'lib'), ''],
  ['a tree with a submodule, in that', withSubmodule, 'lib'],
  [
    'a tree with a linked worktree in it, in that',
    () => {
      const cwd = committed({ 'a.txt': 'a\n' })
      git(cwd, 'worktree', 'add', '-q', '-b', 'side', join(cwd, 'trees/sïde'))
      return cwd
    },
    'trees/sïde',
  ],
  [
    'a tree with another repository in it, in that',
    () => {
      const cwd = committed({ 'a.txt': 'a\n' })
      execFileSync('cp', ['-a', committed({ 'n.txt': 'n\n' }), join(cwd, 'nested')])
      return cwd
    },
    'nested',
  ],
] as const

for (const how of ['copy', 'overlay'] as const) {
  const missing = whyNoBubblewrap() ?? (how === 'overlay' ? whyNoOverlay() : undefined)
  describe.skipIf(missing !== undefined)(`with ${how}, a run`, () => {
    testUnless(missing, test).each(kinds)(
      'works in %s: what it changes and commits there lands',
      async (_, make, folder) => {
        const [cwd, home] = [make(), tempDir()]
        const at = join(cwd, folder)
        const before = [git(at, 'rev-parse', 'HEAD'), git(at, 'status', '--porcelain')]
        const old = git(at, 'rev-parse', 'HEAD')
        const branch = git(at, 'symbolic-ref', 'HEAD')
        const made = `echo x > new.txt && git add new.txt && ${commit} -m run && echo y > left.txt && mkdir out && echo z > out/z && git log --format=%s`
        const ended = await onOverlay(cwd, [[call('exec_command', { cmd: made, workdir: at })]], {
          how,
          home,
          args: [],
        })
        const report = reportOf(ended)
        expect([ended.code, outputOf(ended), report?.strategy]).toEqual([0, expect.stringMatching(/^run\n/), how])
        expect(report).toMatchObject({ outcome: 'landed', not_landed: [], ignored: { files: 1 } })
        expect(report?.commits).toMatchObject([{ path: at, moved: { branch, old } }])
        expect([git(at, 'log', '-1', '--format=%s'), git(at, 'status', '--porcelain')]).toEqual(['run', '?? left.txt'])
        git(at, 'fsck', '--strict')
        expect(await agent(['undo', '--last'], { cwd, home })).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^Reverted/),
        })
        expect([git(at, 'rev-parse', 'HEAD'), git(at, 'status', '--porcelain')]).toEqual(before)
        expect(git(at, 'for-each-ref', 'refs/portcullis')).toBe('')
      },
    )
  })
}

testUnless(whyNoBubblewrap())(
  'commits on a branch whose name is not UTF-8 are kept, and all names stay as they were',
  async () => {
    const cwd = committed({ 'a.txt': 'a\n' })
    const names = String.raw`n=$'gr\xf6\xdfe'; git branch "t-$n"; git tag "$n"; git update-ref "refs/remotes/$n/x" main; git checkout -qb "$n"`
    execFileSync('bash', ['-ec', names], { cwd })
    const refs = (): string => execFileSync('git', ['for-each-ref'], { cwd, encoding: 'latin1' })
    const before = refs()
    const ended = await onOverlay(
      cwd,
      [[call('exec_command', { cmd: `${commit} --allow-empty -m run; git log --format=%s` })]],
      {
        how: 'copy',
        args: [],
      },
    )
    expect([ended.code, outputOf(ended)]).toEqual([0, expect.stringMatching(/^run\nfirst\n/)])
    expect(reportOf(ended)?.commits).toMatchObject([{ stayed: expect.stringContaining('is not UTF-8') }])
    expect(git(cwd, 'log', '--format=%s', `refs/portcullis/${reportOf(ended)?.run}/HEAD`)).toBe('run\nfirst')
    expect(refs().replace(/.*portcullis.*\n/, '')).toBe(before)
  },
)

testUnless(whyNoBubblewrap())(
  'in a tree whose HEAD is a symlink to a branch, the commits of a run are kept',
  async () => {
    const cwd = committed({ 'a.txt': 'a\n' })
    rmSync(join(cwd, '.git/HEAD'))
    symlinkSync('refs/heads/main', join(cwd, '.git/HEAD'))
    const made = `${commit} --allow-empty -m run; git log --format=%s`
    const ended = await onOverlay(cwd, [[call('exec_command', { cmd: made })]], { how: 'copy' })
    expect([ended.code, outputOf(ended)]).toEqual([0, expect.stringMatching(/^run\nfirst\n/)])
    expect(git(cwd, 'log', '--format=%s', `refs/portcullis/${reportOf(ended)?.run}/heads/main`)).toBe('run\nfirst')
    expect(git(cwd, 'log', '--format=%s', 'main')).toBe('first')
  },
)

test('a separate git directory that does not name the tree is refused, and the message says how to name the tree', async () => {
  const cwd = committed({ 'a.txt': 'a\n' })
  git(cwd, 'init', '-q', '--separate-git-dir', join(tempDir(), 'separate.git'))
  const ended = await onOverlay(cwd, [[say('done')]], { how: 'copy' })
  expect([ended.code, ended.requests.length]).toEqual([5, 0])
  const said = /run (git -C \S+ config core\.worktree \S+), or run/.exec(ended.stdout + ended.stderr)?.[1] ?? 'false'
  execFileSync('sh', ['-c', said])
  expect((await onOverlay(cwd, [[say('done')]], { how: 'copy' })).code).toBe(0)
})

testUnless(whyNoBubblewrap() ?? whyNoOverlay())(
  'commits in a repository in the workspace land later, too, from an overlay that nobody has mounted any more',
  async () => {
    const [cwd, home] = [committed({ 'a.txt': 'a\n' }), tempDir()]
    const at = join(cwd, 'nested')
    execFileSync('cp', ['-a', committed({ 'n.txt': 'n\n' }), at])
    const made = `echo x > new.txt && git add new.txt && ${commit} -m run && echo y > left.txt`
    await onOverlay(cwd, [[call('exec_command', { cmd: made, workdir: at })]], { home, args: ['--land', 'never'] })
    expect(git(at, 'log', '-1', '--format=%s')).not.toBe('run')
    const applied = await agent(['apply', '--last', '--land-commits'], { cwd, home })
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringMatching(/^(?:The newest run here: \S+\n)+$/)])
    expect([git(at, 'log', '-1', '--format=%s'), git(at, 'status', '--porcelain')]).toEqual(['run', '?? left.txt'])
    expect((await agent(['undo', '--last'], { cwd, home })).code).toBe(0)
    expect([git(at, 'status', '--porcelain'), existsSync(join(at, 'new.txt'))]).toEqual(['', false])
  },
)

test('a tree whose .git names no repository that refers back to it has no private view, and the run is refused before anything happens', async () => {
  const linked = linkedWorktree()
  const pointer = readFileSync(join(linked, '.git'), 'utf8')
  rmSync(join(linked, '.git'))
  const moved = join(tempDir({ 'a.txt': 'a\n' }))
  writeFileSync(join(moved, '.git'), pointer)
  const ended = await onOverlay(moved, [[say('done')]], { how: 'copy' })
  expect([ended.code, ended.requests.length]).toEqual([5, 0])
  expect(ended.stdout + ended.stderr).toContain('Repair the link with git worktree repair')
  expect(existsSync(join(moved, '.git'))).toBe(true)
})
