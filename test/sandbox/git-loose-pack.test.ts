import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { holdDirectory, type HeldDirectory } from '../../sandbox/git/held-directory.ts'
import { packLoose } from '../../sandbox/git/loose-pack.ts'
import { git, repository } from './git-repositories.ts'
import { temporaryDirectory } from './helpers.ts'

function objectsOf(directory: string): HeldDirectory {
  const held = holdDirectory(join(directory, '.git/objects'))
  onTestFinished(() => held.close())
  return held
}

/** All objects of a repository, each with its kind and size. */
function listed(directory: string): readonly string[] {
  return git(directory, 'cat-file', '--batch-all-objects', '--batch-check').split('\n')
}

async function emptyRepository(...words: readonly string[]): Promise<string> {
  const directory = await temporaryDirectory()
  git('/', 'init', '-q', ...words, directory)
  return directory
}

test.each([
  ['sha1', 20],
  ['sha256', 32],
])('a pack of loose objects is one that git takes, with all that they are: %s', async (format, oidBytes) => {
  const from = await emptyRepository(`--object-format=${format}`)
  for (const size of [0, 1, 15, 16, 2047, 2048, 70_000]) await writeFile(join(from, `of-${size}`), 'x'.repeat(size))
  git(from, 'add', '.')
  git(from, 'commit', '-qm', 'all')
  git(from, 'tag', '-am', 'said', 'v1')
  const made = packLoose(objectsOf(from), oidBytes, new Set())
  const to = await emptyRepository(`--object-format=${format}`)
  execFileSync('git', ['index-pack', '--stdin', '--strict', '--fsck-objects'], {
    cwd: to,
    input: made?.content ?? '',
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  expect(listed(to)).toEqual(listed(from))
  expect([...(made?.oids ?? [])].toSorted()).toEqual(listed(from).map((line) => line.split(' ')[0]))
  expect([...(made?.commits ?? [])]).toEqual([git(from, 'rev-parse', 'HEAD')])
})

test('an object that the host already got is in no second pack', async () => {
  const from = await repository()
  const all = packLoose(objectsOf(from), 20, new Set())?.oids ?? new Set()
  git(from, 'commit', '-q', '--allow-empty', '-m', 'more')
  expect(packLoose(objectsOf(from), 20, all)?.oids).toEqual(new Set([git(from, 'rev-parse', 'HEAD')]))
})

test('anything that git would not have written is left to the sandbox’s git', async () => {
  const from = await repository()
  const blob = git(from, 'rev-parse', 'HEAD:file')
  const commit = git(from, 'rev-parse', 'HEAD')
  const place = (oid: string): string => join(from, '.git/objects', oid.slice(0, 2), oid.slice(2))
  const packed = (): unknown => packLoose(objectsOf(from), 20, new Set())
  expect(packed()).toBeDefined()
  const kept = await readFile(place(commit))
  await chmod(place(commit), 0o644)
  // The file gets another object's content, then no content, then two megabytes of zeros.
  await writeFile(place(commit), await readFile(place(blob)))
  expect(packed()).toBeUndefined()
  await writeFile(place(commit), '')
  expect(packed()).toBeUndefined()
  await writeFile(place(commit), deflateSync(Buffer.alloc(2_000_000)))
  expect(packed()).toBeUndefined()
  await writeFile(place(commit), kept)
  expect(packed()).toBeDefined()
  await rm(place(blob))
  spawnSync('mkfifo', [place(blob)])
  expect(packed()).toBeUndefined()
  await rm(place(blob))
  await writeFile(join(from, '.git/objects/pack/pack-1.pack'), '')
  expect(packed()).toBeUndefined()
})

test('many objects, and large ones, are left to the sandbox’s git', async () => {
  const from = await emptyRepository()
  await writeFile(join(from, 'large'), Buffer.alloc(1024 * 1024))
  git(from, 'add', '.')
  expect(packLoose(objectsOf(from), 20, new Set())).toBeUndefined()
  const many = await emptyRepository()
  for (let at = 0; at < 200; at += 1) await writeFile(join(many, `f${at}`), `${at}`)
  git(many, 'add', '.')
  expect(await readdir(join(many, '.git/objects'))).not.toHaveLength(2)
  expect(packLoose(objectsOf(many), 20, new Set())).toBeUndefined()
})
