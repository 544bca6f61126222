/** Repositories that a run makes land as repositories made anew, without anything that would make git start a program. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { by, committing, plainConfig } from './committing.ts'
import { whyNoOverlay } from './overlay-runs.ts'

const make = `git init -q -b main made; cd made; echo 1 > f; mkdir d; echo 2 > d/g; git add .; git ${by} commit -qm one`
const inside =
  (cwd: string, path = 'made') =>
  (...words: readonly string[]): string =>
    execFileSync('git', ['-C', join(cwd, path), ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()

for (const how of ['copy', 'overlay'] as const) {
  const missing = whyNoBubblewrap() ?? (how === 'overlay' ? whyNoOverlay() : undefined)
  describe.skipIf(missing !== undefined)(`with ${how}, a repository that a run makes`, () => {
    testUnless(missing, test)('lands with its objects, refs, index and files, and an undo removes it', async () => {
      const { cwd, git, report, ended, ask } = await committing(
        `${make}; git tag v1; git ${by} tag -am two v2; git switch -qc side; git ${by} commit -q --allow-empty -m two; echo 3 > h; git add h`,
        { how },
      )
      const made = inside(cwd)
      expect(ended.code).toBe(0)
      expect(report).toMatchObject({ outcome: 'landed', new_repositories: [join(cwd, 'made')], repositories: [] })
      expect(made('log', '--format=%s', 'side')).toBe('two\none')
      expect(made('for-each-ref', '--format=%(refname)').split('\n')).toEqual([
        ...['refs/heads/main', 'refs/heads/side', 'refs/tags/v1', 'refs/tags/v2'],
      ])
      expect([made('status', '--porcelain'), made('branch', '--show-current')]).toEqual(['A  h', 'side'])
      expect(made('fsck', '--strict')).toBe('')
      expect(readFileSync(join(cwd, 'made/.git/config'), 'utf8')).toBe(plainConfig)
      expect(git('status', '--porcelain')).toBe('?? made/')
      expect(ended.stderr + (await ask('changes', '--last')).stdout).toContain('new repositories')
      expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
      expect([existsSync(join(cwd, 'made')), git('status', '--porcelain')]).toEqual([false, ''])
    })

    testUnless(missing, test)('lands without commits, and stays if somebody has committed to it since', async () => {
      const { cwd, ask } = await committing('git init -q -b main made', { how })
      const made = inside(cwd)
      expect(made('symbolic-ref', 'HEAD')).toBe('refs/heads/main')
      made(...by.split(' '), 'commit', '-q', '--allow-empty', '-m', 'mine')
      expect((await ask('undo', '--last')).stdout).toContain('the repository stays')
      expect(made('log', '--format=%s')).toBe('mine')
    })

    testUnless(missing, test)('has only the remotes that commands of the run named', async () => {
      const { cwd } = await committing(
        [
          `${make}; git remote add origin https://example.com/x.git; git config remote.evil.url $(printf 'ext::sh'); `,
          'printf \'[remote "other"]\\n\\turl = https://elsewhere.example/%s\\n\' y >> .git/config;',
          'git update-ref refs/remotes/origin/main HEAD; git update-ref refs/remotes/other/main HEAD',
        ].join(''),
        { how },
      )
      const made = inside(cwd)
      expect(made('remote', '-v')).toBe(
        'origin\thttps://example.com/x.git (fetch)\norigin\thttps://example.com/x.git (push)',
      )
      expect(made('for-each-ref', '--format=%(refname)', 'refs/remotes')).toBe('refs/remotes/origin/main')
    })

    testUnless(missing, test)('lands without settings, hooks and odd refs, and starts nothing', async () => {
      const { cwd, ended } = await committing(
        [
          make,
          'printf "#!/bin/sh\\ntouch ../../started\\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit',
          'cp .git/hooks/pre-commit evil; git config core.fsmonitor ./evil; git config core.sshCommand ./evil',
          'git config core.worktree /tmp; git config include.path ../nothing; echo "[core]" > .git/config.worktree',
          'mkdir -p .git/info; echo "* filter=x" > .git/info/attributes; git replace -f HEAD $(git commit-tree -m r HEAD^{tree} </dev/null) || true',
          'git update-ref refs/odd/x HEAD; cp .git/refs/heads/main .git/refs/heads/-x; cp .git/refs/heads/main ".git/refs/heads/a b"',
          'mkdir -p .git/worktrees/w; echo /tmp > .git/worktrees/w/gitdir; ln -s /etc/passwd .git/link; mkfifo .git/pipe',
        ].join('; '),
        { how },
      )
      expect(ended.code).toBe(0)
      const git = join(cwd, 'made/.git')
      expect(readdirSync(git).toSorted()).toEqual(['HEAD', 'config', 'index', 'objects', 'packed-refs', 'refs'])
      expect(readFileSync(join(git, 'config'), 'utf8')).toBe(plainConfig)
      expect(inside(cwd)('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
      inside(cwd)(...by.split(' '), 'commit', '-q', '--allow-empty', '-m', 'mine')
      expect(existsSync(join(cwd, 'started'))).toBe(false)
    })
  })
}

const missing = whyNoBubblewrap()

testUnless(missing, test)(
  'a new repository whose commits hold what never lands stays in the view, and is named',
  async () => {
    const { cwd, report, ended } = await committing(
      `${make}; mkdir .vscode; echo "{}" > .vscode/settings.json; git add -f .; git ${by} commit -qm two; git ${by} rm -qr .vscode; git ${by} commit -qm three`,
    )
    expect(ended.code).toBe(0)
    expect(existsSync(join(cwd, 'made/.git'))).toBe(false)
    expect(readFileSync(join(cwd, 'made/f'), 'utf8')).toBe('1\n')
    expect(report?.repositories).toMatchObject([
      { path: join(cwd, 'made'), why: 'a commit changes ".vscode/settings.json", which never lands' },
    ])
  },
)

testUnless(missing, test)('new repositories inside new ones land each by itself, and no reference to one', async () => {
  const { cwd, git } = await committing(
    `${make}; git init -q -b main in; cd in; echo x > x; git add x; git ${by} commit -qm in; cd ..; git add in 2>/dev/null; cd ..; git add made 2>/dev/null`,
  )
  expect(inside(cwd, 'made/in')('log', '--format=%s')).toBe('in')
  expect(inside(cwd)('ls-files', '-s')).not.toContain('160000')
  expect(git('ls-files', '-s')).not.toContain('160000')
})

testUnless(missing, test)(
  'a new repository borrows no objects, also not those that only this machine can read',
  async () => {
    const outside = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim()
    const secret = (...words: readonly string[]) =>
      execFileSync('git', ['-C', outside, ...words], { encoding: 'utf8' }).trim()
    secret('init', '-q')
    writeFileSync(join(outside, 's'), 'secret\n')
    secret('add', 's')
    secret(...by.split(' '), 'commit', '-qm', 's')
    const head = secret('rev-parse', 'HEAD')
    const { cwd, report } = await committing(
      [
        `git clone -q --shared . shared; ${make}`,
        `echo ${outside}/.git/objects > .git/objects/info/alternates; echo ${head} > .git/refs/heads/stolen`,
      ].join('; '),
    )
    expect(inside(cwd, 'shared')('log', '--format=%s')).toBe('first')
    expect(inside(cwd, 'shared')('fsck', '--strict')).toBe('')
    expect(existsSync(join(cwd, 'shared/.git/objects/info/alternates'))).toBe(false)
    // The repository around it answers instead, and doesn't have the commit either.
    const stolen = spawnSync('git', ['-C', join(cwd, 'made'), 'cat-file', '-t', head])
    expect(stolen.status).not.toBe(0)
    expect(report).toMatchObject({
      outcome: 'landed',
      repositories: [{ why: `it borrows objects from ${outside}/.git/objects` }],
    })
  },
)

testUnless(missing, test).each([
  ['a link', 'git init -q -b main t; mv t/.git elsewhere; ln -s ../elsewhere t/.git; touch t/f'],
  ['a file', 'git init -q -b main t; mv t/.git elsewhere; echo "gitdir: ../elsewhere" > t/.git; touch t/f'],
  ['a directory that nobody can read', 'git init -q -b main t; touch t/f; chmod 000 t/.git'],
  ['a directory whose objects nobody can read', `git init -q -b main t; touch t/f; chmod 000 t/.git/objects`],
  ['a directory whose HEAD is a pipe', 'git init -q -b main t; touch t/f; rm t/.git/HEAD; mkfifo t/.git/HEAD'],
  ['a directory with a broken pack', 'git init -q -b main t; touch t/f; echo x > t/.git/objects/pack/pack-1.pack'],
  ['a directory with a broken index', 'git init -q -b main t; touch t/f; echo x > t/.git/index'],
  ['a directory with broken refs', 'git init -q -b main t; touch t/f; rm -r t/.git/refs; ln -s / t/.git/refs'],
])('where .git is %s, everything else lands, and nothing of it follows', async (_, command) => {
  const { cwd, report, ended } = await committing(`${command}; echo more >> a.txt`)
  expect([ended.code, report?.outcome]).toEqual([0, 'landed'])
  expect([readFileSync(join(cwd, 'a.txt'), 'utf8'), existsSync(join(cwd, 't/f'))]).toEqual(['a\nmore\n', true])
  const stats = lstatSync(join(cwd, 't/.git'), { throwIfNoEntry: false })
  expect(stats === undefined || stats.isDirectory()).toBe(true)
  if (stats !== undefined) expect(inside(cwd, 't')('status', '--porcelain')).toBe('?? f')
})
