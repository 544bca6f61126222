/** Commits in an overlay whose upper layer is on another file system: there, the first change to a file gives it another device and inode. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { testUnless, whyNotRoot } from '../../support/needs.ts'
import { fill, makeScene } from './tree-tools.ts'

const program = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname
const mount =
  'mount -t tmpfs none "$TOP" && mkdir "$TOP/upper" "$TOP/work" && mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$TOP/upper,workdir=$TOP/work" "$TREE"'

/** Runs a script in a tree that is an overlay of a folder and an empty temporary file system. */
function inOverlay(script: string, input = '') {
  const { base, root, state, outside } = makeScene()
  const lower = join(base, 'lower')
  mkdirSync(lower)
  fill(lower, {
    f: 'one\ntwo\n',
    'sub/g': 'g\n',
    'sub/bin': { mode: 0o755, text: 'b\n' },
    gone: 'x\n',
    link: { link: 'f' },
  })
  chmodSync(lower, 0o755)
  writeFileSync(join(base, 'script'), `${mount} && cd "$TREE" && { ${script}\n}\n`)
  const env = { PATH: process.env['PATH'], TOP: outside, LOWER: lower, TREE: root, XDG_STATE_HOME: state }
  const patch = `${process.execPath} ${program}`
  const { status, stdout, stderr } = spawnSync('unshare', ['-m', 'sh', join(base, 'script')], {
    env: { ...env, PATCH: patch },
    input,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

function whyNoOverlay(): string | undefined {
  const probe =
    'mount -t tmpfs none /mnt && cd /mnt && mkdir l u w m && mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w m'
  const { status } = spawnSync('unshare', ['-m', 'sh', '-c', probe])
  return whyNotRoot('can mount an overlay') ?? (status === 0 ? undefined : 'no overlay can be mounted here')
}

const overlayTest = testUnless(whyNoOverlay())
const show =
  'for f in $(find . -type f | sort); do echo "$f $(stat -c %a "$f") $(tr "\\n" "|" < "$f")"; done; readlink link'

overlayTest('a patch that updates, moves and deletes files of the lower layer is applied, and can be undone', () => {
  const patch = `*** Begin Patch
*** Update File: f
@@
-one
+1
*** Update File: sub/g
*** Move to: new/g
*** Update File: sub/bin
*** Move to: bin
@@
-b
+c
*** Delete File: gone
*** Update File: link
*** Move to: link2
*** End Patch
`
  const applied = inOverlay(`$PATCH && ${show.replace('readlink link', 'readlink link2')}`, patch)
  expect(applied.stderr).toBe('')
  expect(applied.stdout.split('\n').slice(6)).toEqual(['./bin 755 c|', './f 644 1|two|', './new/g 644 g|', 'f', ''])
  const undone = inOverlay(`$PATCH && $PATCH undo && ${show}`, patch)
  expect(undone.stderr).toBe('')
  expect(undone.stdout.split('\n').slice(15)).toEqual([
    './f 644 one|two|',
    './gone 644 x|',
    './sub/bin 755 b|',
    './sub/g 644 g|',
    'f',
    '',
  ])
})

overlayTest('a patch that fails half-way leaves the files of the lower layer as they were', () => {
  // `sub` is immutable for the commit: a directory of the lower layer in which a file system is mounted can't be removed.
  const patch = '*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n*** Delete File: sub/g\n*** End Patch\n'
  const failed = inOverlay(`touch sub/x && mount --bind sub/x sub/g && $PATCH; ${show}`, patch)
  expect(failed.stdout).toContain('./f 644 one|two|\n')
  expect(failed.stderr).toContain('Nothing was changed.')
})
