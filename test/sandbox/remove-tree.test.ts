import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeTree } from '../../sandbox/remove-tree.ts'
import { asView } from './git-repositories.ts'
import { closeLater, openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

/** Names that Node changes when it reads them as text, each with the text that it reads: a replacement character, or one character for each byte. */
const twins = [
  [Buffer.from('x\xe4', 'latin1'), 'x\ufffd'],
  [Buffer.from('x\xc3\xa4', 'latin1'), 'x\u00c3\u00a4'],
] as const

/** A directory outside the tree, with a file and a subdirectory. */
async function outsideTree(): Promise<string> {
  const outside = await temporaryDirectory()
  mkdirSync(join(outside, 'inner'))
  writeFileSync(join(outside, 'file'), 'kept')
  writeFileSync(join(outside, 'inner', 'file'), 'kept')
  return outside
}

const everything = ['file', 'inner', join('inner', 'file')]

test.each(twins)(
  'removes a directory whose name Node would misread, but not the target of a symlink that has the misread name',
  async (name, read) => {
    const [base, outside] = [await temporaryDirectory(), await outsideTree()]
    const tree = join(base, 'tree')
    mkdirSync(join(tree, 'few'), { recursive: true })
    for (const directory of [tree, join(tree, 'few')]) {
      mkdirSync(Buffer.concat([Buffer.from(`${directory}/`), name, Buffer.from('/inner')]), { recursive: true })
      symlinkSync(outside, join(directory, read))
    }
    await removeTree(tree)
    expect(readdirSync(base)).toEqual([])
    expect(readdirSync(outside, { recursive: true }).toSorted()).toEqual(everything)
  },
)

test('removes a large tree with names that are not UTF-8 and directories that nobody may enter', async () => {
  const [base, outside] = [await temporaryDirectory(), await outsideTree()]
  const tree = join(base, 'tree')
  mkdirSync(tree)
  const script = `
    cd "$1" && for i in $(seq 300); do mkdir "$i" "$(printf 'x%s\\344' $i)" && ln -s "$2" "$(printf 'x%s\\357\\277\\275' $i)" && : >"$i/f" || exit 1; done
    chmod 000 1 2 "$(printf 'x3\\344')"`
  execFileSync('sh', ['-c', script, 'sh', tree, outside])
  await removeTree(tree)
  expect(readdirSync(base)).toEqual([])
  expect(readdirSync(outside, { recursive: true }).toSorted()).toEqual(everything)
})

test('removes a symlink, not the directory that it leads to', async () => {
  const [base, outside] = [await temporaryDirectory(), await outsideTree()]
  symlinkSync(outside, join(base, 'tree'))
  await removeTree(join(base, 'tree'))
  expect(readdirSync(base)).toEqual([])
  expect(readdirSync(outside, { recursive: true }).toSorted()).toEqual(everything)
})

testInBubblewrap(
  'closing a sandbox removes nothing elsewhere, whatever commands have left in /tmp and in .git',
  async () => {
    const [workspace, outside] = [await temporaryDirectory(), await outsideTree()]
    execFileSync('git', ['init', '--quiet', workspace])
    for (const mode of ['workspace-write', 'read-only'] as const) {
      const sandbox = closeLater(await openFor({ mode, ...(await asView(workspace)) }))
      for (const folder of mode === 'read-only' ? ['/tmp'] : ['/tmp', '.git']) {
        const plant = `cd ${folder} && mkdir "$(printf 'x\\344')" && ln -s ${outside} "$(printf 'x\\357\\277\\275')"`
        expect(await run(sandbox, plant)).toMatchObject({ result: { status: 'exited', code: 0 } })
      }
      await sandbox.close()
      expect(existsSync(outside)).toBe(true)
      expect(readdirSync(outside, { recursive: true }).toSorted()).toEqual(everything)
    }
  },
)
