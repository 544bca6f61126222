import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
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

/** The entries of a copy's index, and those of them that have the metadata of their files. */
function indexEntries(copy: string) {
  const entries = parseIndex(readFileSync(join(copy, '.git/index')), 20) ?? []
  const current = entries.filter(({ path, stat }) => {
    const { ino, ctimeNs, mtimeNs } = stats(Buffer.concat([Buffer.from(`${copy}/`), Buffer.from(path, 'latin1')]))
    return (
      stat.readUInt32BE(20) === Number(ino & 0xffffffffn) &&
      stat.readUInt32BE(0) === Number(ctimeNs / 1_000_000_000n) &&
      stat.readUInt32BE(4) === Number(ctimeNs % 1_000_000_000n) &&
      stat.readUInt32BE(8) === Number(mtimeNs / 1_000_000_000n)
    )
  })
  return { entries, current }
}

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
  const { entries, current } = indexEntries(copy)
  expect(entries).toHaveLength(6)
  expect(current.map(({ path }) => path)).toEqual(['a.txt', 'd/b.txt', 'd/c.txt', 'linked-1.txt', 'linked-2.txt'])
})

/** Makes a tree that is so large that a second thread copies a part of it. */
function makeLargeTree(files: number): string {
  const from = tempDir()
  for (let at = 0; at < files; at += 1) {
    const directory = join(from, `d${at % 7}`, `ü${at % 13}`)
    mkdirSync(directory, { recursive: true })
    const file = join(directory, at % 5 === 0 ? `f-ß-${at}` : `f${at}`)
    writeFileSync(file, `content of ${at}\n`.repeat(at % 90))
    chmodSync(file, [0o644, 0o600, 0o755, 0o444, 0o4755, 0o666][at % 6] ?? 0)
    utimesSync(file, 1_500_000_000 + at, 1_400_000_000 + at)
  }
  return from
}

/** Describes all entries of a tree: kind, mode, owner, size, number of links, times to the microsecond, and content. */
function describe(root: string): ReadonlyMap<string, unknown> {
  const names = readdirSync(root, { recursive: true, encoding: 'buffer' }).map((name) => name.toString('latin1'))
  const entries = names.map((name): [string, unknown] => {
    const file = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')])
    const { mode, uid, gid, size, nlink, mtimeNs } = stats(file)
    const kind = Number(mode & 0o170000n)
    const content = kind === 0o100000 ? readFileSync(file, 'latin1') : kind === 0o120000 ? readlinkSync(file) : ''
    const isDirectory = kind === 0o040000
    // The copies of symbolic links have the time at which they were made.
    const time = kind === 0o120000 ? 0 : Number(mtimeNs) / 1e9
    return [name, { mode, uid, gid, content, ...(isDirectory ? {} : { size, nlink }), time }]
  })
  return new Map(entries)
}

test('a tree that two threads copy equals its original', async () => {
  const [from, base] = [makeLargeTree(2500), tempDir()]
  writeFileSync(join(from, 'd0', 'large'), randomBytes(200_000))
  writeFileSync(join(from, 'd6', 'sparse'), '')
  truncateSync(join(from, 'd6', 'sparse'), 3_000_000)
  for (const at of [0, 1, 2, 3, 4, 5, 6]) {
    linkSync(join(from, 'd0', 'large'), join(from, `d${at}`, `link-to-large`))
    linkSync(join(from, 'd1', 'ü1', 'f1'), join(from, `d${at}`, `link-to-small`))
    symlinkSync('../d0/large', join(from, `d${at}`, 'symlink'))
  }
  if (process.geteuid?.() === 0) for (const at of [1, 2, 3]) chownSync(join(from, `d${at}/ü${at}/f${at}`), 1234, 1234)
  mkdirSync(join(from, 'read-only'))
  writeFileSync(join(from, 'read-only', 'file'), 'a\n')
  chmodSync(join(from, 'read-only'), 0o555)
  utimesSync(join(from, 'd3'), 1_300_000_000, 1_300_000_000)
  const copy = join(base, 'copy')
  const manifest = await copyTree(from, copy, { how: 'copy' })
  const [original, copied] = [describe(from), describe(copy)]
  expect(copied.size).toBe(original.size)
  for (const [name, entry] of original) {
    const { time, ...rest } = entry as { readonly time: number }
    expect(copied.get(name), name).toEqual({ ...rest, time: expect.closeTo(time, 5) })
  }
  expect([...manifest.keys()].toSorted()).toEqual([...original.keys()].toSorted())
  expect(stats(join(copy, 'd6', 'sparse')).blocks * 512n).toBeLessThan(1_000_000n)
  for (const [key, entry] of manifest) {
    if (entry.kind !== 'file') continue
    const [source, target] = [from, copy].map((root) =>
      Buffer.concat([Buffer.from(`${root}/`), Buffer.from(key, 'latin1')]),
    )
    const [was, now] = [stats(source ?? ''), stats(target ?? '')]
    expect(entry).toMatchObject({ mode: Number(was.mode & 0o7777n), size: Number(was.size), was: stampOf(was) })
    // Each further hard link updates the file's ctime, so the manifest has the ctime from when the link at this key was made.
    if (now.nlink === 1n) expect(entry.stamp, key).toBe(stampOf(now))
  }
  chmodSync(join(from, 'read-only'), 0o755)
  chmodSync(join(copy, 'read-only'), 0o755)
})

test("the copy of a large tree has an index with the metadata of the copies, and the manifest names git's objects", async () => {
  const [from, base] = [makeLargeTree(1500), tempDir()]
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
  ])
    execFileSync('git', ['-C', from, ...words])
  const copy = join(base, 'copy')
  const manifest = await copyTree(from, copy, { how: 'copy' })
  const { entries, current } = indexEntries(copy)
  expect(current).toHaveLength(1500)
  expect(entries).toEqual(current)
  for (const { path, oid } of entries) expect(manifest.get(path)).toMatchObject({ blob: oid })
})

test.each([
  ['files', { files: 2000, bytes: 1e9 }, 'more than 2000 files'],
  ['bytes', { files: 1e6, bytes: 1_000_000 }, 'more than 1 MB'],
])('a tree with too many %s is refused, and no thread continues to write', async (_, limit, message) => {
  const [from, base] = [makeLargeTree(2500), tempDir()]
  const copying = copyTree(from, join(base, 'copy'), { how: 'copy', limit })
  await expect(copying).rejects.toThrow(
    expect.objectContaining({ why: 'large', message: `${from} contains ${message}` }),
  )
  const left = readdirSync(base, { recursive: true }).length
  await setTimeout(100)
  expect(readdirSync(base, { recursive: true })).toHaveLength(left)
})

test('a signal stops the copying of a large tree, and no thread continues to write', async () => {
  const [from, base] = [makeLargeTree(2500), tempDir()]
  const stop = new AbortController()
  const copying = copyTree(from, join(base, 'copy'), { how: 'copy', signal: stop.signal })
  setImmediate(() => stop.abort())
  await expect(copying).rejects.toThrow('aborted')
  const left = readdirSync(base, { recursive: true }).length
  await setTimeout(100)
  expect(readdirSync(base, { recursive: true })).toHaveLength(left)
})

test('an error while two threads copy is thrown as it is', async () => {
  const [from, base] = [makeLargeTree(1500), tempDir()]
  const long = 'x'.repeat(240)
  writeFileSync(join(from, 'd3', long), 'a\n')
  // The path of this file's copy is longer than a path can be.
  const deep = join(base, ...Array.from({ length: 16 }, () => long))
  mkdirSync(deep, { recursive: true })
  await expect(copyTree(from, join(deep, 'copy'), { how: 'copy' })).rejects.toThrow('ENAMETOOLONG')
})

test('a directory that is removed or closed while it is copied has the mode that is noted for it', async () => {
  const [from, base] = [tempDir(), tempDir()]
  for (const name of ['removed', 'closed', 'last/.git']) mkdirSync(join(from, name), { recursive: true, mode: 0o755 })
  const copy = join(base, 'copy')
  const manifest = await copyTree(from, copy, {
    how: 'copy',
    repository: () => {
      rmdirSync(join(from, 'removed'))
      chmodSync(join(from, 'closed'), 0o700)
    },
  })
  for (const name of ['removed', 'closed'])
    expect(Number(stats(join(copy, name)).mode & 0o7777n)).toBe(manifest.get(name)?.mode)
})
