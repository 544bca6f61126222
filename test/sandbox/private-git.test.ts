import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, rm, writeFile, chmod, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parsePolicy } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { asView, git, ownStateDirectory, repository } from './git-repositories.ts'
import { closeLater, run, temporaryDirectory } from './helpers.ts'
import { openSandbox, type Sandbox } from '../../sandbox/index.ts'

ownStateDirectory()

describeInBoth('git in %s', ({ backend, test, readableRoots }) => {
  const openIn = async (stored: string, more: object = {}): Promise<Sandbox> => {
    const policy = parsePolicy({ mode: 'workspace-write', ...(await asView(stored)), readableRoots, ...more })
    return closeLater(await openSandbox(policy, { backend, image }))
  }
  /** Runs a script that must succeed without denials. */
  const work = async (sandbox: Sandbox, script: string): Promise<string> => {
    const { stdout, stderr, result } = await run(sandbox, `set -e; ${script}`)
    expect({ stderr, result }).toMatchObject({ result: { status: 'exited', code: 0, denials: [] } })
    return stdout
  }

  test('commits, branches, tags, stashes, notes and reflogs are in the host’s repository when the command has ended', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    await work(
      sandbox,
      'echo two >> file; git commit -qam second; git tag v1; git notes add -m noted; git checkout -qb new',
    )
    await work(sandbox, 'echo three >> file; git stash -q; echo x > x; git add x')
    expect(git(workspace, 'log', '--format=%s', 'main')).toBe('second\nfirst')
    expect(git(workspace, 'rev-parse', 'v1')).toBe(git(workspace, 'rev-parse', 'main'))
    expect(git(workspace, 'notes', 'show', 'main')).toBe('noted')
    expect(git(workspace, 'symbolic-ref', 'HEAD')).toBe('refs/heads/new')
    expect(git(workspace, 'stash', 'list')).toMatch(/^stash@\{0\}: WIP on new/)
    expect(git(workspace, 'status', '--porcelain')).toBe('A  x')
    expect(git(workspace, 'reflog', '--format=%gs')).toBe(
      'reset: moving to HEAD\ncheckout: moving from main to new\ncommit: second\ncommit (initial): first',
    )
    await work(sandbox, 'git stash drop -q; git branch -q -D other')
    expect(git(workspace, 'stash', 'list')).toBe('')
    expect(git(workspace, 'branch', '--format=%(refname:short)')).toBe('main\nnew')
    git(workspace, 'fsck', '--strict')
  })

  test('branches and tags with a part that begins with a dash are shown and imported like all others', async () => {
    const workspace = await repository()
    git(workspace, 'branch', 'host/-y')
    const sandbox = await openIn(workspace)
    const commit = (name: string): string => `git checkout -qb ${name}; git commit -q --allow-empty -m ${name}`
    expect(await work(sandbox, `git branch --format='%(refname:short)'; ${commit('feature/-x')}; git tag v/-1`)).toBe(
      'host/-y\nmain\nother\n',
    )
    await work(sandbox, `git checkout -q host/-y; git commit -q --allow-empty -m y; git branch -qD feature/-x`)
    expect(git(workspace, 'log', '-1', '--format=%s', 'v/-1')).toBe('feature/-x')
    expect(git(workspace, 'log', '-1', '--format=%s', 'host/-y')).toBe('y')
    expect(git(workspace, 'symbolic-ref', 'HEAD')).toBe('refs/heads/host/-y')
    expect(git(workspace, 'reflog', '-1', '--format=%gs', 'host/-y')).toBe('commit: y')
    expect(git(workspace, 'branch', '--list', 'feature/*')).toBe('')
  })

  test('what commands stage and commit is in the host’s index, even if it is split', async () => {
    const workspace = await repository()
    await writeFile(join(workspace, 'more'), 'more\n')
    git(workspace, 'add', 'more')
    git(workspace, 'commit', '-qm', 'more')
    git(workspace, 'update-index', '--split-index')
    await writeFile(join(workspace, 'staged'), 'on the host\n')
    git(workspace, 'add', 'staged')
    const sandbox = await openIn(workspace)
    await work(sandbox, 'git rm -q more; echo two > file; git commit -qam two; echo new > new; git add new')
    expect(git(workspace, 'status', '--porcelain')).toBe('A  new')
    git(workspace, 'commit', '-qm', 'three')
    expect(git(workspace, 'show', '--name-status', '--format=', 'HEAD')).toBe('A\tnew')
    expect(git(workspace, 'show', '--name-status', '--format=', 'HEAD~')).toBe('M\tfile\nD\tmore\nA\tstaged')
  })

  test('if the host’s index can’t be read, the report says so, and says what to do', async () => {
    const workspace = await repository()
    git(workspace, 'update-index', '--split-index')
    const sandbox = await openIn(workspace)
    await work(sandbox, 'true')
    for (const name of await readdir(join(workspace, '.git')))
      if (name.startsWith('sharedindex.')) await rm(join(workspace, '.git', name))
    const { result } = await run(sandbox, 'rm -f .git/index; git reset -q; echo two > file; git commit -qam two')
    expect(JSON.stringify(result)).toContain("the host's own index is damaged")
    expect(JSON.stringify(result)).toContain('run git reset before you commit')
  })

  test('rebase, merge, cherry-pick and bisect continue in the next command, and on the host', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    await work(sandbox, 'git checkout -q other; echo o > o; git add o; git commit -qm o; git checkout -q main')
    await work(
      sandbox,
      'echo m > o; git add o; git commit -qm m; git rebase -q other >/dev/null 2>&1 || true; git status',
    )
    expect(git(workspace, 'status')).toContain('rebase in progress')
    await work(sandbox, 'echo both > o; git add o; GIT_EDITOR=true git rebase --continue')
    expect(git(workspace, 'log', '--format=%s')).toBe('m\no\nfirst')
    expect(git(workspace, 'status')).not.toContain('rebase')
    await work(sandbox, 'git bisect start -q; git bisect bad; git bisect good HEAD~2')
    expect(git(workspace, 'status')).toContain('bisecting')
    git(workspace, 'bisect', 'reset')
    await work(sandbox, 'git status | grep -q "On branch main"')
    await work(sandbox, 'git checkout -qb side HEAD~2; echo s > o; git add o; git commit -qm s; git merge main || true')
    expect(git(workspace, 'ls-files', '-u')).not.toBe('')
    await work(sandbox, 'git merge --abort; git cherry-pick main || true')
    git(workspace, 'cherry-pick', '--abort')
    await work(sandbox, 'git merge -q -X theirs main -m merged')
    expect(git(workspace, 'log', '-1', '--format=%s')).toBe('merged')
    git(workspace, 'fsck', '--strict')
  })

  test('worktrees and remotes that commands create work in the commands after them', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    await work(
      sandbox,
      'git init -q --bare -b main remote.git; git remote add local "$PWD/remote.git"; git push -q -u local main',
    )
    await work(sandbox, 'git worktree add -q tree -b tree; cd tree; echo t > t; git add t; git commit -qm t')
    expect(await work(sandbox, 'cd tree; git log -1 --format="%s %D"; git status --porcelain')).toBe('t HEAD -> tree\n')
    expect(git(workspace, 'rev-parse', '--abbrev-ref', 'main@{upstream}')).toBe('local/main')
    await work(sandbox, 'git commit -q --allow-empty -m pushed; git push -q')
    expect(git(join(workspace, 'remote.git'), 'log', '-1', '--format=%s', 'main')).toBe('pushed')
    await work(sandbox, 'git fetch -q local')
    expect(git(workspace, 'log', '-1', '--format=%s', 'local/main')).toBe('pushed')
    git(workspace, 'fsck', '--strict')
  })

  test('gc ends with 0, and the host’s objects stay', async () => {
    const workspace = await repository()
    const before = (await readdir(join(workspace, '.git/objects'))).toSorted()
    const sandbox = await openIn(workspace)
    await work(sandbox, 'git gc -q --prune=now; git repack -adq; git fsck; git log -1 >/dev/null')
    expect((await readdir(join(workspace, '.git/objects'))).toSorted()).toEqual(before)
  })

  test('a ref, HEAD or index that the host changed stays, and the command’s is kept and reported', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    const started = sandbox.spawn({
      argv: [
        'sh',
        '-c',
        'git checkout -q other; echo c > c; git add c; git commit -qm command; touch ready; while [ ! -e go ]; do sleep 0.05; done',
      ],
      cwd: workspace,
    })
    while (!existsSync(join(workspace, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 20))
    const tree = git(workspace, 'rev-parse', 'main^{tree}')
    const mine = git(workspace, 'commit-tree', tree, '-m', 'mine', '-p', 'main')
    git(workspace, 'update-ref', 'refs/heads/other', mine)
    git(workspace, 'config', 'branch.main.description', 'mine')
    await writeFile(join(workspace, 'go'), '')
    const { denials } = await started.result
    expect(git(workspace, 'rev-parse', 'other')).toBe(mine)
    const [kept = ''] = git(workspace, 'for-each-ref', '--format=%(refname)', 'refs/portcullis').split('\n')
    expect(git(workspace, 'log', '-1', '--format=%s', kept)).toBe('command')
    expect(denials.map(({ subject }) => subject).join()).toContain(kept)
    expect(git(workspace, 'config', 'branch.main.description')).toBe('mine')
    // The next command sees the state of the host's repository.
    expect(await work(sandbox, 'git log -1 --format=%s other')).toBe('mine\n')
  })

  test('the next command sees changes that the host makes while a command changes git, even within a file', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    const waiting = work(
      sandbox,
      'touch started; until [ -e go ]; do sleep 0.05; done; rm started go; git commit -q --allow-empty -m c',
    )
    while (!existsSync(join(workspace, 'started'))) await new Promise((resolve) => setTimeout(resolve, 20))
    git(workspace, 'branch', 'hosts', 'main')
    await writeFile(join(workspace, 'go'), '')
    await waiting
    expect(await work(sandbox, 'git branch --list hosts; echo made > made; git status --porcelain')).toBe(
      '  hosts\n?? made\n',
    )
    await appendFile(join(workspace, '.git/info/exclude'), 'made\n')
    expect(await work(sandbox, 'git status --porcelain')).toBe('')
    for (const text of ['one', 'two']) {
      await writeFile(join(workspace, 'file'), text)
      git(workspace, 'stash', 'push', '-q')
    }
    expect((await work(sandbox, 'git stash list')).split('\n')).toHaveLength(3)
    git(workspace, 'stash', 'drop', '-q', 'stash@{1}')
    expect((await work(sandbox, 'git stash list')).split('\n')).toHaveLength(2)
  })

  test('a lock of the host’s index is awaited and kept, with a note', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    const lock = join(workspace, '.git/index.lock')
    await writeFile(lock, '')
    const { result } = await run(sandbox, 'echo x > x; git add x')
    expect(result.denials).toMatchObject([{ subject: expect.stringContaining('lock') }])
    expect(existsSync(lock)).toBe(true)
    await rm(lock)
    expect(git(workspace, 'ls-files', 'x')).toBe('')
  })

  test('an object that only a later command refers to is imported with that command', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    await work(sandbox, 'git commit -q --allow-empty -m c; git status')
    const oid = (await work(sandbox, 'echo later | git hash-object -w --stdin')).trim()
    await work(sandbox, `git update-index --add --cacheinfo 100644,${oid},later`)
    expect(git(workspace, 'cat-file', 'blob', ':later')).toBe('later')
    await work(sandbox, 'git tag later :later; git status')
    expect(git(workspace, 'rev-parse', 'later')).toBe(oid)
  })

  test('an object that the host has removed since is imported again', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    await work(sandbox, 'echo later > later; git add later')
    const oid = git(workspace, 'rev-parse', ':later')
    git(workspace, 'reset', '-q')
    git(workspace, 'repack', '-qad')
    git(workspace, 'prune', '--expire=now')
    expect(() => git(workspace, 'cat-file', '-e', oid)).toThrow(oid)
    await work(sandbox, 'git add later')
    expect(git(workspace, 'cat-file', 'blob', ':later')).toBe('later')
  })

  test('a commit without a log entry still gets one in the host’s log', async () => {
    const workspace = await repository()
    const sandbox = await openIn(workspace)
    await work(sandbox, 'git -c core.logAllRefUpdates=false commit -q --allow-empty -m quiet; rm -r .git/logs')
    await work(sandbox, 'git commit -q --allow-empty -m said')
    expect(git(workspace, 'log', '--format=%s', 'main')).toBe('said\nquiet\nfirst')
    expect(git(workspace, 'reflog', '--format=%H', 'main')).toContain(git(workspace, 'rev-parse', 'main~1'))
  })

  test('filters and hooks of the repository run in the sandbox: a pointer is added, and a refusal refuses', async () => {
    const workspace = await repository()
    git(workspace, 'config', 'filter.lfs.clean', 'sed s/.*/pointer/')
    await writeFile(join(workspace, '.gitattributes'), '*.bin filter=lfs\n')
    await writeFile(join(workspace, '.git/hooks/pre-commit'), '#!/bin/sh\n[ ! -e no ]\n')
    await chmod(join(workspace, '.git/hooks/pre-commit'), 0o755)
    const sandbox = await openIn(workspace)
    await work(sandbox, 'echo large > a.bin; git add a.bin')
    expect(git(workspace, 'cat-file', 'blob', ':a.bin')).toBe('pointer')
    expect((await run(sandbox, 'touch no; git commit -qm refused')).result).toMatchObject({ code: 1 })
    await work(sandbox, 'rm no; git commit -qm taken')
    expect(git(workspace, 'log', '-1', '--format=%s')).toBe('taken')
  })

  test('no secret of the repository’s config is visible, wherever it is', async () => {
    const workspace = await repository()
    const temp = await temporaryDirectory()
    const secret = 'c2VjcmV0LWNhbmFyeQ'
    git(workspace, 'config', 'http.https://github.com/.extraheader', `AUTHORIZATION: basic ${secret}`)
    git(workspace, 'config', `url.https://x-access-token:${secret}@github.com/.insteadOf`, 'git@github.com:')
    git(workspace, 'config', 'remote.origin.url', `https://me:${secret}@github.com/a/b`)
    git(workspace, 'config', 'remote.plain.url', 'ssh://git@example.org/a')
    git(workspace, 'config', 'credential.helper', `store --file=/x/${secret}`)
    git(workspace, 'config', 'core.sshCommand', `ssh -i /x/${secret}`)
    const included = join(temp, 'git-credentials-1.config')
    await writeFile(
      included,
      `[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic ${secret}\n[pull]\n\trebase = true\n`,
    )
    git(workspace, 'config', `includeIf.gitdir:${workspace}/.git.path`, included)
    git(workspace, 'config', 'includeIf.gitdir:/github/workspace/.git.path', included)
    await appendFile(
      join(workspace, '.git/FETCH_HEAD'),
      `${'0'.repeat(40)}\t\t'main' of https://me:${secret}@github.com/a/b\n`,
    )
    await mkdir(join(workspace, 'nested'))
    git(join(workspace, 'nested'), 'init', '-q')
    git(join(workspace, 'nested'), 'config', 'http.extraheader', `AUTHORIZATION: basic ${secret}`)
    const script = `cd .git; cat config; cd ..; grep -r ${secret} . 2>/dev/null; git config --list; cat ${included} nested/.git/config; git -C nested config --list; true`
    for (const more of [{}, { mode: 'read-only' }, { readableRoots: [...readableRoots, temp] }]) {
      const sandbox = await openIn(workspace, more)
      const { stdout, stderr } = await run(sandbox, script)
      expect(stdout + stderr).not.toContain(secret)
      expect((await run(sandbox, script, { cwd: join(workspace, 'nested') })).stdout).not.toContain(secret)
      expect((await run(sandbox, 'git config pull.rebase; git remote get-url plain')).stdout).toBe(
        'true\nssh://git@example.org/a\n',
      )
    }
    expect(git(workspace, 'config', 'remote.origin.url')).toContain(secret)
  })

  test('git works with denied files: they are ignored, or treated as unchanged', async () => {
    const workspace = await repository()
    for (const name of ['.env.local', 'odd [name]? .env', 'kept.env', 'secret/a']) {
      await mkdir(join(workspace, 'secret'), { recursive: true })
      await writeFile(join(workspace, name), 'hidden\n')
    }
    git(workspace, 'add', 'kept.env', 'secret')
    git(workspace, 'commit', '-qm', 'with secrets')
    const sandbox = await openIn(workspace, { deniedReads: ['**/.env*', '**/*.env', join(workspace, 'secret')] })
    expect(
      await work(sandbox, 'git status --porcelain; echo x > new; echo two >> file; git add -A; git status -s'),
    ).toBe('M  file\nA  new\n')
    await work(sandbox, 'git commit -qm both; echo y >> file; echo z > other; git stash -qu; git stash pop -q')
    expect(await work(sandbox, 'git status --porcelain; git commit -qam last')).toBe(' M file\n?? other\n')
    expect(git(workspace, 'show', '--stat', '--format=', 'HEAD', 'HEAD~1')).not.toMatch(/env|secret/)
    expect(git(workspace, 'ls-files', '-v')).not.toMatch(/^[a-z]/m)
    await writeFile(join(workspace, 'kept.env'), 'changed by the host\n')
    expect(git(workspace, 'status', '--porcelain')).toContain('M kept.env')
    expect(git(workspace, 'status', '--porcelain')).toContain('?? .env.local')
    await rm(join(workspace, '.env.local'))
    await work(sandbox, 'echo mine > .env.local; git add -A')
  })

  test('config, hooks and alternates that a command writes stay in its private copy', async () => {
    const workspace = await repository()
    const before = await readFile(join(workspace, '.git/config'), 'utf8')
    const sandbox = await openIn(workspace)
    await run(
      sandbox,
      `git tag t; git config core.fsmonitor ./evil; git config core.hooksPath evil; git config alias.st '!evil'; git config remote.origin.url 'ext::sh -c evil'
       git config remote.origin.fetch +refs/heads/*:refs/remotes/origin/*; git config submodule.x.url --upload-pack=evil; git config branch.main.remote ext::evil
       echo evil > .git/hooks/pre-commit; echo ../x > .git/commondir; echo /x > .git/objects/info/alternates; mkdir .git/worktrees; mkdir .git/worktrees/x
       echo 'ref: refs/heads/main' > .git/worktrees/x/HEAD; echo /etc/.git > .git/worktrees/x/gitdir; echo ../.. > .git/worktrees/x/commondir`,
    )
    const after = (await readFile(join(workspace, '.git/config'), 'utf8')).replace(
      /\[remote "origin"\]\n\tfetch = .*\n/,
      '',
    )
    expect(after).toBe(before)
    for (const name of ['hooks/pre-commit', 'commondir', 'objects/info/alternates', 'worktrees']) {
      expect(existsSync(join(workspace, '.git', name)), name).toBe(false)
    }
    expect(git(workspace, 'tag')).toBe('t')
  })
})
