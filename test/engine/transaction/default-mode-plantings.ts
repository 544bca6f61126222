import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { exec, repository } from '../../support/workspace.ts'
import { plainConfig } from './committing.ts'
import { cmd, reportOf } from './overlay-runs.ts'

const by = '-c user.name=x -c user.email=x@x'

/** What the host's git and other programs obey: everything in the git directory except objects, the index and what a landing may add. */
function obeyed(cwd: string): unknown {
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd, encoding: 'utf8' })
  const refs = git('for-each-ref', '--format=%(refname) %(objectname)').split('\n')
  const text = (name: string) =>
    existsSync(join(cwd, '.git', name)) ? readFileSync(join(cwd, '.git', name), 'utf8') : ''
  return {
    config: text('config'),
    shallow: text('shallow'),
    head: text('HEAD'),
    refs: refs.filter((line) => !/^refs\/(?:portcullis\/|heads\/main )/.test(line)),
    hooks: readdirSync(join(cwd, '.git/hooks')),
    entries: readdirSync(join(cwd, '.git')).filter((name) => !['portcullis', 'index', 'COMMIT_EDITMSG'].includes(name)),
  }
}

/** Everything in the tree that programs would trust: settings for agents, and git directories that are more than what a repository made anew consists of. */
function planted(cwd: string): readonly string[] {
  const paths = readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter((path) => !path.startsWith('.git/'))
  return [
    ...paths.filter((path) => /(?:^|\/)(?:\.claude|\.envrc|hooks)(?:\/|$)/.test(path)),
    ...paths.filter((path) => path.endsWith('/.git') && !isMadeAnew(join(cwd, path))),
  ]
}

function isMadeAnew(git: string): boolean {
  const parts = ['HEAD', 'config', 'index', 'objects', 'packed-refs', 'refs', 'shallow']
  const isKnown = readdirSync(git).every((name) => parts.includes(name))
  return isKnown && readFileSync(join(git, 'config'), 'utf8') === plainConfig
}

const hook = 'mkdir -p x/.git/hooks; printf "#!/bin/sh\\n" > x/.git/hooks/pre-commit; chmod +x x/.git/hooks/pre-commit'
const settings = 'mkdir -p .claude; echo evil > .claude/settings.json'
const hidden =
  'h=$(echo evil | git hash-object -w --stdin); git update-index --add --cacheinfo 100755,$h,.claude/settings.json --cacheinfo 100755,$h,.envrc'

/** What commands plant: a name, and the script that does it. */
export const plantings: readonly (readonly [name: string, script: string])[] = [
  ['an entry that no review can handle', `git init -q x; mkdir x/.git/config.worktree; ${hook}; ${settings}`],
  ['a git directory without rights', `git init -q x; ${hook}; ${settings}; chmod 555 x/.git`],
  [
    'directories at temporary names',
    `git init -q x; mkdir -p x/.git/config.portcullis x/.git/config; ${hook}; ${settings}`,
  ],
  [
    'remotes and upstreams',
    'git remote add evil https://attacker/x; git config branch.main.remote evil; git config remote.evil.fetch "+refs/heads/*:refs/remotes/origin/*"',
  ],
  [
    'forged refs',
    'for r in remotes/origin/main remotes/origin/release tags/v1.0 tags/main heads/origin/main heads/HEAD notes/commits stash; do git update-ref refs/$r HEAD; done; git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main',
  ],
  [
    'directories that are too deep for a path',
    `d=$(printf %0100d 0); for i in $(seq 60); do mkdir $d; cd $d; done; git init -q x; ${hook}; ${settings}`,
  ],
  ['a git file in the making', `mkdir x; echo "gitdir: $PWD/.git/worktrees/x" > x/.git; ${settings}`],
  ['a shallow boundary', 'git rev-parse HEAD > .git/shallow'],
  ['deleted branches', 'git branch -D feature; git tag -d v0'],
  ['protected files in a commit', `${hidden}; git ${by} commit -qm innocent`],
  ['protected files in the index', hidden],
  ['protected files in a stash', `${settings}; git add -f .claude; git ${by} stash -q; git stash list`],
  [
    'a repository with a promisor',
    'git init -q x; git -C x config remote.o.promisor true; git -C x config extensions.partialClone o; git -C x config remote.o.url http://attacker/',
  ],
  ['a gitlink', `git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),x; git ${by} commit -qm link`],
  [
    'hooks and settings of the repository',
    'git config core.hooksPath .husky; git config core.fsmonitor ./evil; printf "#!/bin/sh\\n" > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout',
  ],
]

/** Runs a script that plants something, and expects that only what was judged has landed. */
export async function expectOnlyJudged(command: string, ...args: readonly string[]): Promise<void> {
  // The Guardian judges what it can read. What a script does, only the landing judges.
  const cwd = repository({ 'a.txt': 'a\n', 'attack.sh': command })
  execFileSync(
    'sh',
    [
      '-c',
      `git checkout -qb main; git add .; git ${by} commit -qm first; git branch feature; git tag v0; git update-ref refs/remotes/origin/main HEAD`,
    ],
    { cwd },
  )
  const before = obeyed(cwd)
  const ended = await exec([cmd('sh attack.sh; echo b > a.txt'), [say('done')]], ['--json', ...args, 'x'], { cwd })
  expect([ended.code, reportOf(ended)?.outcome], ended.stderr).toEqual([0, 'landed'])
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('b\n')
  expect(obeyed(cwd)).toEqual(before)
  expect(planted(cwd)).toEqual([])
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd, encoding: 'utf8' })
  expect([git('ls-files', '-s'), git('ls-tree', '-r', 'main')].join('\n')).not.toMatch(/\.claude|\.envrc|^160000/m)
  expect(git('fsck', '--strict')).toBe('')
}
