import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JudgeTree } from '../../../../engine/run/judge/judge-tree.ts'
import { putAll } from '../../../../engine/run/judge/put-changes.ts'
import { viewFolder } from '../../../../engine/transaction/stored-view.ts'
import { withJudge, type Opened } from '../../../support/judge-change.ts'
import { needsBubblewrap } from '../../../support/needs.ts'

const files = {
  '.gitignore': 'node_modules\n.env\n.npmrc\n',
  '.env': 'API_KEY=sk-ant-REDACTED\n',
  '.npmrc': 'registry=https://r.example/\n//r.example/:_authToken=s3cret\n',
  'gone.txt': 'gone\n',
  'was/dir/a.txt': 'a\n',
  'was/file': 'file\n',
  'was/link': { link: '../gone.txt' },
  'node_modules/p/index.js': 'p\n',
  'test/a.test.js': 'a\n',
}
const change = {
  'gone.txt': null,
  'was/dir': 'now a file\n',
  'was/file': null,
  'was/file/b.txt': 'b\n',
  'was/link': { link: 'file/b.txt' },
  'new/deep/c.txt': 'c\n',
  'large.txt': 'x'.repeat(100_000),
}

/** Runs a script in a throw-away tree with the change. */
async function run(opened: Opened, script: string, prepare: (trees: readonly JudgeTree[]) => void = () => undefined) {
  const { changes } = await opened.subject.look()
  return opened.subject.runOn(script, false, opened.context, (trees) => {
    for (const tree of trees) putAll(tree, changes, opened.view.directory)
    prepare(trees)
  })
}

const state = (root: string): string =>
  execFileSync(
    'sh',
    ['-c', 'find . -printf "%p %i %C@ %m\n" | sort; git --no-optional-locks status --porcelain --ignored'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )

describe.skipIf(needsBubblewrap())('a throw-away tree', () => {
  test('shows the base with what was put in, and neither secrets nor what the base has no more', async () => {
    await withJudge({ files, change }, async (opened) => {
      const checks = [
        '! test -e gone.txt && test -f was/dir && ! test -e was/dir/a.txt && test "$(cat was/file/b.txt)" = b',
        'test "$(cat was/link)" = b && test "$(cat new/deep/c.txt)" = c && test "$(wc -c < large.txt)" = 100000',
        'test "$(cat node_modules/p/index.js)" = p && ! test -e .env && ! grep s3cret .npmrc && grep registry .npmrc',
        'git status --porcelain > status && grep -q "^ D gone.txt" status && ! grep node_modules status',
        'git log --oneline | grep base && ! grep -r s3cret . && test "$(stat -c %a was)" = 755',
      ]
      const overs: unknown[] = []
      const ran = await run(opened, checks.join(' && '), ([tree]) => overs.push(tree?.view.over))
      expect(ran?.end).toBe('exit code 0')
      expect(overs).toEqual([opened.root])
    })
  })

  test('keeps everything that a command does in it, and is gone afterwards', async () => {
    await withJudge({ files, change }, async (opened) => {
      const before = [state(opened.root), state(opened.view.views[0]?.source ?? '')]
      const script = [
        'rm -rf node_modules test was && echo no > node_modules && mkdir was && echo x > was/new',
        'ln new/deep/c.txt linked && chmod 600 .gitignore && touch .npmrc',
        'echo y >> .git/config && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm evil && git branch evil',
        '(setsid sh -c "while :; do echo z >> left; sleep 0.01; done" >/dev/null 2>&1 &)',
      ]
      expect((await run(opened, script.join(' && ')))?.end).toBe('exit code 0')
      expect([state(opened.root), state(opened.view.views[0]?.source ?? '')]).toEqual(before)
      expect(existsSync(join(viewFolder(opened.view.directory), 'judge'))).toBe(false)
      const second = '! test -e left && ! test -e linked && test -d node_modules && ! git rev-parse -q --verify evil'
      expect((await run(opened, second))?.end).toBe('exit code 0')
    })
  })

  test('shows neither what a command of the run that still runs writes, nor what it has written since its changes were listed', async () => {
    await withJudge({ files, change }, async (opened) => {
      const { changes } = await opened.subject.look()
      const source = opened.view.views[0]?.source ?? ''
      writeFileSync(join(source, 'new/deep/c.txt'), 'evil\n')
      writeFileSync(join(source, 'node_modules/p/index.js'), 'evil\n')
      const script = 'test "$(cat new/deep/c.txt node_modules/p/index.js | tr -d "\\n")" = cp'
      const ran = await opened.subject.runOn(script, false, opened.context, ([tree]) => {
        if (tree !== undefined) putAll(tree, changes, opened.view.directory)
      })
      expect(ran?.end).toBe('exit code 0')
    })
  })

  test('says which files of the judge were written, also if their directory was removed and made again', async () => {
    await withJudge({ files, change }, async (opened) => {
      const written = async (script: string) => (await run(opened, script))?.written
      expect(await written('cat test/a.test.js; echo b > test/b; echo x > was/x')).toEqual([])
      expect(await written('cp -p test/a.test.js x && cat x > test/a.test.js && touch -r x test/a.test.js')).toEqual([
        'test/a.test.js',
      ])
      expect(await written('rm -r test; mkdir test')).toEqual(['test/a.test.js'])
      expect(await written('rm -r test')).toEqual(['test/a.test.js'])
      expect(await written('rm test/a.test.js')).toEqual(['test/a.test.js'])
    })
  })

  test('is a copy where a command failed because an overlay moves no directories', async () => {
    await withJudge({ files, change }, async (opened) => {
      const overs: unknown[] = []
      const move = `node -e 'require("fs").renameSync("node_modules", "moved")'`
      const ran = await run(opened, move, ([tree]) => overs.push(tree?.view.over))
      expect(ran?.end).toBe('exit code 0')
      expect(overs).toEqual([opened.root, undefined])
      expect(readFileSync(join(opened.root, 'node_modules/p/index.js'), 'utf8')).toBe('p\n')
    })
  })

  test('is a copy where the sandbox must look into it', async () => {
    const over = (more: Parameters<typeof withJudge>[0]) =>
      withJudge(more, async (opened) => {
        let found: string | undefined = 'none'
        const ran = await run(opened, 'test ! -e gone.txt && ! cat secret.txt', ([tree]) => (found = tree?.view.over))
        return [ran?.end, found]
      })
    const copied = ['exit code 0', undefined]
    expect(await over({ files: { ...files, 'secret.txt': 'x' }, change, denied: ['**/secret.txt'] })).toEqual(copied)
    expect(await over({ files: { ...files, 'inner/.git/HEAD': 'ref: refs/heads/x\n' }, change })).toEqual(copied)
    expect(await over({ files, change, unixSockets: true })).toEqual(copied)
  })
})
