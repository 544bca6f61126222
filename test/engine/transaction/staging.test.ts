/** What is staged after a run that staged something. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testUnless, whyNoBubblewrap } from '../../support/needs.ts'
import { by, committing, type Git } from './committing.ts'
import { whyNoOverlay } from './overlay-runs.ts'

const status = (git: Git): string => git('status', '--porcelain')
const contentOf = (git: Git, path: string): string => git('cat-file', 'blob', `:${path}`)

for (const how of ['copy', 'overlay'] as const) {
  const missing = whyNoBubblewrap() ?? (how === 'overlay' ? whyNoOverlay() : undefined)
  describe.skipIf(missing !== undefined)(`with ${how}, the paths that a run stages`, () => {
    testUnless(missing, test)('are staged after the landing, and an undo takes that back', async () => {
      const { git, ask, report, ended } = await committing(
        'echo more >> a.txt; echo new > new.txt; chmod +x b.txt; ln -s a.txt link; git add . ; echo later > other.txt',
        { how, prepare: (git, cwd) => (appendFileSync(join(cwd, 'b.txt'), 'mine\n'), git('add', 'b.txt')) },
      )
      expect(ended.code).toBe(0)
      expect(status(git)).toBe('M  a.txt\nM  b.txt\nA  link\nA  new.txt\n?? other.txt')
      expect(git('diff', '--cached', '--summary', 'b.txt')).toContain('mode change 100644 => 100755 b.txt')
      expect(report).toMatchObject({ staged: 4, commits: [], repositories: [], can_undo: true })
      expect((await ask('changes', '--last')).stdout).toContain('staged: 4 paths')
      expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
      expect([status(git), git('ls-files')]).toEqual(['M  b.txt', '.gitignore\na.txt\nb.txt'])
    })

    testUnless(missing, test)('stay unstaged where something else landed', async () => {
      const { git } = await committing('echo one >> a.txt; git add a.txt; echo two >> a.txt', { how })
      expect(status(git)).toBe(' M a.txt')
      expect(contentOf(git, 'a.txt')).toBe('a')
    })

    testUnless(missing, test)('leave alone what the user staged, before the run and during it', async () => {
      const { git, read } = await committing('echo run > run.txt; echo run >> b.txt; git add run.txt b.txt', {
        how,
        prepare: (git, cwd) => {
          writeFileSync(join(cwd, 'a.txt'), 'staged\n')
          git('add', 'a.txt')
          writeFileSync(join(cwd, 'a.txt'), 'edited\n')
        },
        before: (git) => {
          const blob = git('hash-object', '-w', '.gitignore')
          git('update-index', '--cacheinfo', `100644,${blob},b.txt`)
        },
      })
      expect(status(git)).toBe('MM a.txt\nMM b.txt\nA  run.txt')
      expect([contentOf(git, 'a.txt'), read('a.txt'), contentOf(git, 'b.txt')]).toEqual(['staged', 'edited\n', 'out'])
    })

    testUnless(missing, test)('can be removals', async () => {
      const { git, ask } = await committing('git rm -q a.txt; git rm -q --cached b.txt', { how })
      expect(status(git)).toBe('D  a.txt\nD  b.txt\n?? b.txt')
      await ask('undo', '--last')
      expect(status(git)).toBe('')
    })

    testUnless(missing, test)('are staged although nothing else changed, and an undo takes that back', async () => {
      const { git, ask, report } = await committing('git add a.txt', {
        how,
        prepare: (_, cwd) => appendFileSync(join(cwd, 'a.txt'), 'mine\n'),
      })
      expect([status(git), report?.staged]).toEqual(['M  a.txt', 1])
      expect((await ask('undo', '--last')).stdout).toMatch(/^Reverted/)
      expect(status(git)).toBe(' M a.txt')
    })

    testUnless(missing, test)('are staged on top of commits that land', async () => {
      const { git, ask, first } = await committing(
        `echo one >> a.txt; git ${by} commit -qam one; echo two >> a.txt; echo n > n.txt; git add a.txt n.txt`,
        { how },
      )
      expect(status(git)).toBe('M  a.txt\nA  n.txt')
      await ask('undo', '--last')
      expect([status(git), git('rev-parse', 'HEAD')]).toEqual(['', first])
    })

    testUnless(missing, test)('are not the ones that are in commits which stay', async () => {
      const { git } = await committing(
        `echo one >> a.txt; git ${by} commit -q --amend -am one; echo n > n.txt; git add n.txt`,
        { how },
      )
      expect(status(git)).toBe(' M a.txt\nA  n.txt')
    })

    testUnless(missing, test)('hold no entry that could not land itself', async () => {
      const { git } = await committing(
        [
          'mkdir -p .vscode sub; echo "{}" > .vscode/settings.json; git -c init.defaultBranch=m init -q sub',
          `git -C sub ${by} commit -q --allow-empty -m x; echo ok > ok.txt`,
          'git add -f .vscode ok.txt; git add sub 2>&1',
          'git update-index --add --cacheinfo 100644,$(git hash-object -w ok.txt),forged.txt',
        ].join('; '),
        { how },
      )
      expect(git('ls-files', '-s')).not.toMatch(/160000|\.vscode|forged/)
      expect(git('ls-files')).toBe('.gitignore\na.txt\nb.txt\nok.txt')
    })

    testUnless(missing, test)('leave the rest of the index as it is', async () => {
      const { git } = await committing('echo run >> b.txt; git add b.txt', {
        how,
        prepare: (git) => void git('update-index', '--assume-unchanged', 'a.txt'),
      })
      expect([status(git), git('ls-files', '-v', 'a.txt')]).toEqual(['M  b.txt', 'h a.txt'])
    })

    testUnless(missing, test)('are staged if git converts their line endings', async () => {
      const { git, cwd } = await committing('printf "x\\r\\n" >> a.txt; git add a.txt 2>/dev/null', {
        how,
        prepare: (git) => void git('config', 'core.autocrlf', 'true'),
      })
      expect([status(git), readFileSync(join(cwd, 'a.txt'), 'utf8')]).toEqual(['M  a.txt', 'a\nx\r\n'])
    })
  })
}
