/** Random commands of a run, git's plumbing among them, and the tree that they are run in. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'

/** A program that a planted setting would make git or another program start. It leaves a mark where it runs. */
export const marker = 'started-by-what-a-run-left'

/** Names that never land, because they control what other programs do. */
export const controlling = [
  ...['.envrc', '.mcp.json', '.claude/settings.json', 'dir/.vscode/tasks.json', '.idea/workspace.xml'],
  ...['new/.git/hooks/pre-commit', 'new/.git/config', 'dir/.git', 'new/.git/config.worktree', 'NEW/.GIT/config'],
]

const inGit = [
  ...['hooks/pre-commit', 'hooks/post-checkout', 'config', 'config.worktree', 'info/attributes', 'info/exclude'],
  ...['objects/info/alternates', 'commondir', 'HEAD', 'index', 'packed-refs', 'shallow', 'logs/HEAD', 'gitdir'],
  ...['refs/heads/planted', 'refs/remotes/origin/main', 'refs/tags/v1', 'refs/stash', 'info/grafts', 'refs/replace/x'],
  ...['worktrees/w/gitdir', 'worktrees/w/commondir', 'modules/m/config', 'MERGE_HEAD', 'ORIG_HEAD', 'lfs/x', 'odd'],
]
const places = [
  ...[
    'a.txt',
    'dir/b.txt',
    'dir',
    'staged',
    'untracked',
    'ignored/x',
    'new',
    'new/x',
    'link',
    'sub',
    'sub/s.txt',
    '.git',
  ],
  ...[...controlling, ...inGit.map((name) => `.git/${name}`), ...inGit.slice(0, 8).map((name) => `sub/.git/${name}`)],
]
const refs = [
  ...['refs/heads/main', 'refs/heads/other', 'refs/heads/fix', 'refs/heads/v1', 'refs/remotes/origin/main'],
  ...[
    'refs/remotes/origin/fix',
    'refs/tags/v1',
    'refs/tags/fix',
    'refs/notes/commits',
    'refs/stash',
    'refs/bisect/bad',
  ],
  ...['refs/replace/HEAD', 'refs/portcullis/x/main', 'HEAD', 'ORIG_HEAD', 'refs/heads/origin/main', 'refs/heads/HEAD'],
]
const commits = [
  'HEAD',
  'HEAD~1',
  'other',
  'v1',
  'origin/main',
  '$(git hash-object -w a.txt)',
  '$(git commit-tree -m t HEAD^{tree})',
]
const settings = [
  ...['core.fsmonitor ./evil', 'core.hooksPath .', 'core.sshCommand ./evil', 'diff.external ./evil', 'core.bare true'],
  ...['filter.f.clean ./evil', 'alias.status !./evil', 'remote.origin.url ext::./evil', 'core.worktree /tmp'],
  ...[
    'branch.main.remote evil',
    'include.path ../evil-config',
    'core.sparseCheckout true',
    'extensions.worktreeConfig true',
  ],
  ...['remote.origin.pushurl /tmp/elsewhere', 'gc.pruneExpire now', 'credential.helper ./evil', 'user.name other'],
]

const place = fc.constantFrom(...places)
const ref = fc.constantFrom(...refs)
const commit = fc.constantFrom(...commits)
const name = fc.constantFrom('fix', 'other', 'main', 'v1', 'origin/main', 'HEAD', 'deep/er', 'refs/heads/x')
/** A `git` that works in the repository itself or in the nested one. */
const git = fc.constantFrom('git', 'git', 'git', 'git -C sub', 'git -C new')

const made = (...parts: readonly (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
  fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((all) => all.join(''))

/** One shell command. Many fail; what they leave until then counts, too. */
const command: fc.Arbitrary<string> = fc.oneof(
  made('mkdir -p $(dirname ', place, '); echo text$RANDOM > ', place),
  place.map((at) => `mkdir -p $(dirname ${at}); cp evil ${at}`),
  made('rm -rf ', place),
  made('mv ', place, ' ', place),
  made('cp -r ', place, ' ', place),
  made('ln -sfn ', fc.constantFrom('../outside', 'dir', 'evil', '/etc/passwd', '.git', '.git/hooks'), ' ', place),
  made('ln -f ', place, ' ', place),
  made('chmod ', fc.constantFrom('000', '4755', '555', '777'), ' ', place),
  made('mkfifo ', place),
  made(git, ' add -A'),
  made(git, ' add -f ', place),
  made(git, ' commit -qam m'),
  made(git, ' commit -q --allow-empty -m m'),
  made(git, ' commit -q --amend -m m'),
  made(git, ' switch -qc ', name),
  made(git, ' checkout -q ', commit),
  made(git, ' checkout -q ', name),
  made(git, ' branch -f ', name, ' ', commit),
  made(git, ' branch -D ', name),
  made(git, ' branch -m ', name),
  made(git, ' tag -f ', name, ' ', commit),
  made(git, ' update-ref ', ref, ' ', commit),
  made(git, ' update-ref -d ', ref),
  made(git, ' symbolic-ref ', ref, ' ', ref),
  made(git, ' config ', fc.constantFrom(...settings)),
  made(git, ' config --global ', fc.constantFrom(...settings)),
  made(git, ' remote add evil ./evil'),
  made(git, ' stash -q'),
  made(git, ' reset -q --hard ', commit),
  made(git, ' rebase -q ', commit),
  made(git, ' merge -q -m m ', commit),
  made(git, ' cherry-pick ', commit),
  made(git, ' worktree add -q ', place, ' -b ', name),
  made('git init -q ', fc.constantFrom('new', 'dir', 'made', 'sub')),
  made('git clone -q . ', fc.constantFrom('new', 'made')),
  made('git -c protocol.file.allow=always submodule --quiet add ./sub ', fc.constantFrom('module', 'dir/module')),
  made(git, ' gc -q --prune=now'),
  made(git, ' pack-refs --all'),
  made(git, ' reflog expire --expire=now --all'),
  made(git, ' notes add -f -m note'),
  made(git, ' replace -f HEAD HEAD~1'),
  made(
    git,
    ' update-index --add --cacheinfo 100755,$(git hash-object -w evil),',
    fc.constantFrom(...controlling, 'new/x'),
  ),
  made(git, ' update-index --skip-worktree ', place),
  made(git, ' rm -rq --cached ', place),
  made(git, ' fetch -q . +main:', ref),
  made(git, ' sparse-checkout set dir'),
)

/** A script of a few commands, each of which may fail. */
export const script: fc.Arbitrary<string> = fc
  .array(command, { minLength: 1, maxLength: 8 })
  .map((all) => all.map((each) => `( ${each} ) >/dev/null 2>&1 </dev/null`).join('\n'))

/** Makes a repository with branches, a tag, a remote, staged, changed, untracked and ignored files, and a nested repository. */
export function makeRepository(root: string): void {
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const run = (...words: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: root, stdio: 'ignore' })
  mkdirSync(root)
  run('init', '-q', '-b', 'main')
  put('a.txt', 'one\n')
  put('dir/b.txt', 'two\n')
  put('.gitignore', 'ignored/\n')
  put('evil', `#!/bin/sh\necho > ${root}/../${marker}\n`)
  chmodSync(join(root, 'evil'), 0o755)
  run('add', '-A')
  run('commit', '-qm', 'first')
  run('branch', 'other')
  run('tag', 'v1')
  put('a.txt', 'one\nmore\n')
  run('commit', '-qam', 'second')
  run('remote', 'add', 'origin', '/nowhere/origin')
  run('update-ref', 'refs/remotes/origin/main', 'HEAD')
  put('staged', 'staged\n')
  run('add', 'staged')
  put('dir/b.txt', 'two\nchanged\n')
  put('untracked', 'mine\n')
  put('ignored/x', 'mine\n')
  put('sub/s.txt', 'nested\n')
  run('init', '-q', '-b', 'main', 'sub')
  run('-C', 'sub', 'add', 's.txt')
  run('-C', 'sub', 'commit', '-qm', 'nested')
}
