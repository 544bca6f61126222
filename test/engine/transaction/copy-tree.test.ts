import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { copyTree } from '../../../engine/transaction/copy-tree.ts'
import { stampOf } from '../../../engine/transaction/view-manifest.ts'
import { parseIndex } from '../../../sandbox/git/index-file.ts'
import { tempDir } from '../../support/temp-dir.ts'

const stats = (file: string | Buffer): BigIntStats => lstatSync(file, { bigint: true })

test.each([0, 1, 1600, 64 * 1024, 64 * 1024 + 1, 3_000_000])(
  'a file of %i bytes is copied with its content, mode and times, and the manifest describes both',
  async (size) => {
    const [from, base] = [tempDir(), tempDir()]
    for (const mode of [0o644, 0o666, 0o600, 0o444, 0o755, 0o6755]) {
      const file = join(from, `mode-${mode}`)
      writeFileSync(file, randomBytes(size))
      chmodSync(file, mode)
      utimesSync(file, 1_600_000_000.25, 1_500_000_000.75)
    }
    const manifest = await copyTree(from, join(base, 'copy'), { how: 'copy' })
    expect(manifest.size).toBe(6)
    for (const [key, entry] of manifest) {
      const [original, copy] = [join(from, key), join(base, 'copy', key)]
      expect(readFileSync(copy).equals(readFileSync(original))).toBe(true)
      const { mode, uid, gid, mtimeNs } = stats(original)
      const copied = stats(copy)
      expect({ mode: copied.mode, uid: copied.uid, gid: copied.gid }).toEqual({ mode, uid, gid })
      // Node sets times as floating-point numbers, so they are not exact to the nanosecond.
      expect(Math.abs(Number(copied.mtimeNs - mtimeNs))).toBeLessThan(1000)
      expect(entry).toMatchObject({ kind: 'file', was: stampOf(stats(original)), stamp: stampOf(stats(copy)) })
    }
  },
)

test('a copy has the mode and group of its original, even if its storage gives new files others', async () => {
  const [from, base] = [tempDir(), tempDir()]
  writeFileSync(join(from, 'a.txt'), 'a\n')
  chmodSync(join(from, 'a.txt'), 0o664)
  if (process.geteuid?.() === 0) {
    chownSync(base, 0, 12_345)
    writeFileSync(join(from, 'of-another.txt'), 'b\n')
    writeFileSync(join(from, 'sparse'), 'b\n')
    truncateSync(join(from, 'sparse'), 3_000_000)
    for (const name of ['of-another.txt', 'sparse']) chownSync(join(from, name), 1234, 1234)
  }
  chmodSync(base, 0o2755)
  const manifest = await copyTree(from, join(base, 'copy'), { how: 'copy' })
  for (const key of manifest.keys()) {
    const [{ mode, uid, gid }, copy] = [stats(join(from, key)), stats(join(base, 'copy', key))]
    expect({ mode: copy.mode, uid: copy.uid, gid: copy.gid }).toEqual({ mode, uid, gid })
  }
})

test('names of any bytes, links and hard links are copied, and pipes are left out', async () => {
  const [from, base] = [tempDir(), tempDir()]
  const odd = Buffer.from('odd-\xff\n', 'latin1')
  const below = (root: string): Buffer => Buffer.concat([Buffer.from(`${root}/é/`), odd])
  mkdirSync(join(from, 'é'))
  writeFileSync(below(from), 'odd\n')
  symlinkSync(odd, join(from, 'link'))
  writeFileSync(join(from, 'one'), 'same\n')
  linkSync(join(from, 'one'), join(from, 'two'))
  execFileSync('mkfifo', [join(from, 'pipe')])
  const copy = join(base, 'copy')
  const manifest = await copyTree(from, copy, { how: 'copy' })
  const kinds = [...manifest.values()].map(({ key, kind }) => `${kind} ${key}`)
  const directory = Buffer.from('é').toString('latin1')
  expect(kinds.toSorted()).toEqual(
    [
      `directory ${directory}`,
      `file ${directory}/odd-\xff\n`,
      'file one',
      'file two',
      'left-out pipe',
      'link link',
    ].toSorted(),
  )
  expect(readFileSync(below(copy), 'utf8')).toBe('odd\n')
  expect(stats(join(copy, 'one')).ino).toBe(stats(join(copy, 'two')).ino)
})

test("the copy's index has the metadata of the copies, also of hard links, but not of changed files", async () => {
  const [from, base] = [tempDir(), tempDir()]
  const git = (...words: string[]): unknown => execFileSync('git', ['-C', from, ...words])
  git('init', '-q')
  for (const name of ['a.txt', 'd/b.txt', 'd/c.txt', 'linked-1.txt', 'changed.txt']) {
    mkdirSync(join(from, 'd'), { recursive: true })
    writeFileSync(join(from, name), `${name}\n`)
    utimesSync(join(from, name), 1_500_000_000, 1_500_000_000)
  }
  linkSync(join(from, 'linked-1.txt'), join(from, 'linked-2.txt'))
  git('add', '.')
  writeFileSync(join(from, 'changed.txt'), 'changed since\n')
  const copy = join(base, 'copy')
  await copyTree(from, copy, { how: 'copy' })
  const entries = parseIndex(readFileSync(join(copy, '.git/index')), 20) ?? []
  const current = entries.filter(({ path, stat }) => {
    const { ino, ctimeNs, mtimeNs } = stats(join(copy, path))
    return (
      stat.readUInt32BE(20) === Number(ino & 0xffffffffn) &&
      stat.readUInt32BE(0) === Number(ctimeNs / 1_000_000_000n) &&
      stat.readUInt32BE(4) === Number(ctimeNs % 1_000_000_000n) &&
      stat.readUInt32BE(8) === Number(mtimeNs / 1_000_000_000n)
    )
  })
  expect(entries).toHaveLength(6)
  expect(current.map(({ path }) => path)).toEqual(['a.txt', 'd/b.txt', 'd/c.txt', 'linked-1.txt', 'linked-2.txt'])
})
