import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished } from 'vitest'
import { testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import {
  asNobody,
  cmd,
  giveToNobody,
  onOverlay,
  outputOf,
  reportOf,
  whyNoOverlay,
  whyNotAsNobody,
} from './overlay-runs.ts'

const by = '-c user.name=x -c user.email=x@x'

/** Runs a script as the user `nobody`, who runs the program too. */
function sh(cwd: string, script: string): string {
  const [command = '', ...words] = [...asNobody, 'sh', '-c', script]
  return execFileSync(command, words, { cwd, encoding: 'utf8', env: { ...process.env, HOME: '/nowhere' } })
}

/** A directory for a tree and one for the program's own files. Both belong to `nobody`, and so does everything that `prepare` makes in the tree. */
function treeOfNobody(prepare: string): { readonly cwd: string; readonly home: string } {
  const base = mkdtempSync('/var/tmp/portcullis-unreadable-')
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  chmodSync(base, 0o755)
  const [cwd, home] = [join(base, 'tree'), join(base, 'home')]
  for (const directory of [cwd, home]) mkdirSync(directory)
  giveToNobody(cwd, home)
  sh(cwd, prepare)
  return { cwd, home }
}

const twoFiles = `git init -q -b main && echo a > a.txt && echo s > secret && git add . && git ${by} commit -qm first`
const commitAll = `git status --porcelain; echo b > a.txt; git add -A && git ${by} commit -qm second && git show --stat --format=%s`

const asOrdinaryUser = testUnless(whyNoBubblewrap() ?? whyNotAsNobody())
const onBoth = testUnless(whyNoBubblewrap() ?? whyNotAsNobody() ?? whyNoOverlay())

asOrdinaryUser(
  'git add -A in a copy stages no deletion of tracked files and directories that the user can’t read, whatever bytes are in their names',
  async () => {
    const { cwd, home } = treeOfNobody(
      `odd=$(printf 'odd-\\377 \\303\\244'); mkdir closed; echo c > closed/c.txt; echo o > "$odd"; echo r > of-root; ${twoFiles}; chmod 000 secret closed "$odd"`,
    )
    onTestFinished(() => chmodSync(join(cwd, 'closed'), 0o755))
    chownSync(join(cwd, 'of-root'), 0, 0)
    chmodSync(join(cwd, 'of-root'), 0o600)
    const index = readFileSync(join(cwd, '.git/index'))
    const steps = [cmd(commitAll), cmd(`git ${by} stash -q; git reset -q --hard HEAD~1; git status --porcelain`)]
    const args = ['--land', 'never']
    const ended = await onOverlay(cwd, steps, { home, how: 'copy', args, startedBy: asNobody })
    expect(ended.code, ended.stderr).toBe(0)
    expect(outputOf(ended)).toBe('second\n\n a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n')
    expect(readFileSync(join(cwd, '.git/index')).equals(index)).toBe(true)
  },
)

asOrdinaryUser('no commit that lands deletes a tracked file that the user can’t read', async () => {
  const { cwd, home } = treeOfNobody(`${twoFiles}; chmod 000 secret`)
  const ended = await onOverlay(cwd, [cmd(commitAll)], { home, how: 'copy', startedBy: asNobody })
  expect(ended.code, ended.stderr).toBe(0)
  expect(sh(cwd, 'git log --format=%s && git ls-files -v')).toBe('second\nfirst\nH a.txt\nH secret\n')
})

asOrdinaryUser(
  'files that the user can’t read stay marked in a copy when a checkout changes their content',
  async () => {
    const { cwd, home } = treeOfNobody(
      `${twoFiles}; git checkout -qb other; echo t > secret; git ${by} commit -qam changed; git checkout -q main; chmod 000 secret`,
    )
    const steps = [cmd('git checkout -q other'), cmd(`echo b > a.txt; git add -A; git status --porcelain`)]
    const ended = await onOverlay(cwd, steps, { home, how: 'copy', startedBy: asNobody })
    expect(outputOf(ended)).toBe('M  a.txt\n')
  },
)

asOrdinaryUser(
  'in a copy, nested repositories and submodules have no deletions of unreadable files either',
  async () => {
    const { cwd, home } = treeOfNobody(
      `mkdir own origin; (cd own; ${twoFiles}); (cd origin; ${twoFiles}); ${twoFiles.replace('git add .', 'git add *.txt')}
     git -c protocol.file.allow=always submodule --quiet add ./origin sub; git ${by} commit -qm sub; chmod 000 own/secret sub/secret`,
    )
    const command = 'for at in own sub .; do (cd $at; git ls-files --deleted; git ls-files); done'
    const ended = await onOverlay(cwd, [cmd(command)], {
      home,
      how: 'copy',
      startedBy: asNobody,
    })
    expect(outputOf(ended)).toBe('a.txt\nsecret\na.txt\nsecret\n.gitmodules\na.txt\nsub\n')
  },
)

onBoth('what a run adds to a directory that the user can’t read is left out, and the rest lands', async () => {
  const { cwd, home } = treeOfNobody(`mkdir closed; echo c > closed/c.txt; ${twoFiles}; chmod 000 closed`)
  onTestFinished(() => chmodSync(join(cwd, 'closed'), 0o755))
  const command = 'chmod 755 closed && echo n > closed/new.txt && chmod 000 closed; echo b > a.txt'
  const ended = await onOverlay(cwd, [cmd(command)], { home, startedBy: asNobody })
  expect(reportOf(ended)).toMatchObject({ outcome: 'landed', left_out: [{ path: join(cwd, 'closed') }] })
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('b\n')
})

onBoth(
  'a directory that the user can’t read doesn’t keep the changes of a run on an overlay from landing',
  async () => {
    const { cwd, home } = treeOfNobody(`mkdir closed; echo c > closed/c.txt; ${twoFiles}; chmod 000 closed`)
    onTestFinished(() => chmodSync(join(cwd, 'closed'), 0o755))
    const ended = await onOverlay(cwd, [cmd('echo b > a.txt')], { home, startedBy: asNobody })
    expect(ended.code, ended.stderr).toBe(0)
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('b\n')
  },
)
