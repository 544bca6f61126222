import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { removeTree } from '../../sandbox/remove-tree.ts'
import { closeLater, openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

/**
 * A command that creates 60 nested directories with names of 200 characters. Together, the names form a path that is about three times as long as the
 * system allows (PATH_MAX). The innermost directory contains a file, and can't be entered.
 */
const deep = `perl -e '$n="d"x200; for(1..60){mkdir $n or die; chdir $n or die} open F,">f" or die; close F; chmod 0,"."'`

testInBubblewrap(
  'a tree in /tmp that is too deep for any path changes no exit code and is removed with the run',
  async () => {
    const workspace = await temporaryDirectory()
    const before = process.env['TMPDIR']
    const temp = (process.env['TMPDIR'] = await temporaryDirectory())
    onTestFinished(() => {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
    })
    const sandbox = closeLater(await openFor({ mode: 'workspace-write', workspace }))
    expect(await run(sandbox, `cd /tmp && ${deep} && exit 7`)).toMatchObject({ result: { status: 'exited', code: 7 } })
    await sandbox.close()
    expect(readdirSync(temp)).toEqual([])
  },
)

test('closed directories, names that are not UTF-8 and links prevent no removal, and no link target is removed', async () => {
  const base = mkdtempSync(join(tmpdir(), 'remove-tree-'))
  const [tree, other] = [join(base, 'tree'), join(base, 'other')]
  onTestFinished(() => {
    chmodSync(other, 0o700)
    rmSync(base, { recursive: true, force: true })
  })
  for (const directory of [tree, other, join(tree, 'a'), join(tree, 'a/closed')]) mkdirSync(directory)
  writeFileSync(join(other, 'kept'), 'kept')
  chmodSync(other, 0o500)
  for (const at of ['link', 'a/link']) symlinkSync(other, join(tree, at))
  mkdirSync(Buffer.concat([Buffer.from(join(tree, 'a/closed/')), Buffer.from([0xff, 0xfe])]))
  // The path becomes longer than the system allows. With a shorter path, the simple way to remove the tree would work.
  for (let level = 1; level <= 30; level += 1) {
    const outer = join(base, 'outer')
    mkdirSync(outer)
    renameSync(tree, join(outer, 'e'.repeat(200)))
    renameSync(outer, tree)
  }
  chmodSync(join(tree, 'e'.repeat(200)), 0)
  await removeTree(tree)
  expect(readdirSync(base)).toEqual(['other'])
  expect(readdirSync(other)).toEqual(['kept'])
})
