import { chmod, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { entriesIn, namesIn } from '../../sandbox/directory-names.ts'
import { hostFileSystem } from '../../sandbox/file-system-view.ts'
import { cachedFileSystem } from '../../sandbox/cached-file-system.ts'
import { temporaryDirectory } from './helpers.ts'

test('new, removed and renamed entries of a directory are seen, even if its time was reset', async () => {
  const directory = await temporaryDirectory()
  for (const name of ['a', 'b']) await writeFile(join(directory, name), '')
  // This is long enough for listings to be cached.
  await sleep(300)
  expect(entriesIn(directory)).toStrictEqual(['a', 'b'])
  expect(entriesIn(directory)).toBe(entriesIn(directory))
  const old = new Date(1_000_000_000_000)
  await writeFile(join(directory, 'C'), '')
  await utimes(directory, old, old)
  expect(namesIn(directory)).toStrictEqual(new Set(['a', 'b', 'c']))
  await rm(join(directory, 'a'))
  await utimes(directory, old, old)
  expect(namesIn(directory)).toStrictEqual(new Set(['b', 'c']))
  await sleep(300)
  expect(namesIn(directory)).toStrictEqual(new Set(['b', 'c']))
  await rename(join(directory, 'b'), join(directory, 'd'))
  await utimes(directory, old, old)
  expect(namesIn(directory)).toStrictEqual(new Set(['c', 'd']))
})

test('another directory at the same path is listed again', async () => {
  const base = await temporaryDirectory()
  for (const name of ['one', 'other']) await mkdir(join(base, name))
  await writeFile(join(base, 'other', 'x'), '')
  await sleep(300)
  expect([...(namesIn(join(base, 'one')) ?? [])]).toStrictEqual([])
  expect([...(namesIn(join(base, 'other')) ?? [])]).toStrictEqual(['x'])
  await rename(join(base, 'one'), join(base, 'away'))
  await rename(join(base, 'other'), join(base, 'one'))
  expect([...(namesIn(join(base, 'one')) ?? [])]).toStrictEqual(['x'])
})

test('a repeated listing shows the current state of the directories', async () => {
  const base = await temporaryDirectory()
  await mkdir(join(base, 'home'))
  const paths = ['a', 'b', 'c', 'd', 'e', 'f', 'g/h'].map((name) => join(base, 'home', name))
  await writeFile(join(base, 'home', 'b'), '')
  await sleep(300)
  expect(hostFileSystem.present(paths)).toStrictEqual([join(base, 'home/b')])
  expect(hostFileSystem.present(paths)).toStrictEqual([join(base, 'home/b')])
  await mkdir(join(base, 'home/g'))
  await writeFile(join(base, 'home/g/h'), '')
  expect(hostFileSystem.present(paths)).toStrictEqual([join(base, 'home/b'), join(base, 'home/g/h')])
  await rm(join(base, 'home'), { recursive: true })
  expect(hostFileSystem.present(paths)).toStrictEqual([])
})

test('a snapshot gives the host’s answers', async () => {
  const base = await temporaryDirectory()
  await mkdir(join(base, 'd/deep'), { recursive: true })
  await writeFile(join(base, 'd/deep/file'), '')
  await symlink('d', join(base, 'link'))
  await symlink('link/deep/file', join(base, 'twice'))
  await symlink('nowhere', join(base, 'dangling'))
  await symlink('loop', join(base, 'loop'))
  await mkdir(join(base, 'closed'))
  await writeFile(join(base, 'closed/in'), '')
  await chmod(join(base, 'closed'), 0)
  const names = [
    ...['', 'd', 'd/deep/file', 'link', 'link/deep', 'link/deep/file', 'twice', 'dangling', 'loop', 'absent/x'],
    ...['d/deep/file/below', 'd/../d/deep', 'd//deep', 'd/deep/', 'd/deep/file/', './d', 'closed', 'closed/in'],
  ]
  const paths = ['/', '/proc/self/cwd', ...names.map((name) => `${base}/${name}`)]
  const host = cachedFileSystem()
  // Each path is looked up twice, because the second answer comes from the cache.
  for (const path of [...paths, ...paths]) {
    expect({ path, real: host.realPath(path), kind: host.kindOf(path), link: host.isSymlink(path) }).toStrictEqual({
      path,
      real: hostFileSystem.realPath(path),
      kind: hostFileSystem.kindOf(path),
      link: hostFileSystem.isSymlink(path),
    })
  }
  await chmod(join(base, 'closed'), 0o700)
})

test('a snapshot is of one moment, and the next one sees files created since', async () => {
  const directory = await temporaryDirectory()
  const names = Array.from({ length: 12 }, (_, index) => join(directory, 'in', `f${index}`))
  const others = [...names]
  const look = cachedFileSystem()
  expect(look.present(names)).toEqual([])
  await mkdir(join(directory, 'in'))
  await writeFile(join(directory, 'in', 'f3'), '')
  expect(look.present(others)).toEqual([])
  expect(cachedFileSystem().present(names)).toEqual([names[3]])
  expect(cachedFileSystem().present(others)).toEqual([names[3]])
})
