import { createHash, randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkKept, keepBytes, keepFile, keptBytes, keptPiece } from '../../../engine/transaction/kept-files.ts'
import { lockedFolder } from './locked-folder.ts'

const blobs = (directory: string): string => join(directory, 'changes/blobs')
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

test('small contents share one file, large ones have their own; all are found again', () => {
  const directory = lockedFolder()
  const all = [0, 1, 4096, 64 * 1024, 64 * 1024 + 1, 3_000_000].map((size) => randomBytes(size))
  const hashes = all.map((bytes) => keepBytes(directory, bytes))
  expect(hashes).toEqual(all.map(hashOf))
  expect(readdirSync(blobs(directory)).toSorted()).toEqual([...hashes.slice(4), 'pack'].toSorted())
  for (const [index, hash] of hashes.entries()) {
    const bytes = all[index] ?? Buffer.alloc(0)
    expect(keptBytes(directory, hash).equals(bytes)).toBe(true)
    checkKept(directory, hash, bytes.length)
    const piece = keptPiece(directory, hash, bytes.length)
    if (piece instanceof Uint8Array) throw new TypeError('a piece of a file')
    const held = readFileSync(piece.file).subarray(piece.start, piece.start + piece.length)
    expect(held.equals(bytes)).toBe(true)
  }
})

test('the same content is stored once', () => {
  const directory = lockedFolder()
  const file = join(directory, 'file')
  writeFileSync(file, 'text')
  keepBytes(directory, Buffer.from('text'))
  const before = readFileSync(join(blobs(directory), 'pack'))
  expect(keepFile(directory, Buffer.from(file))).toEqual({ hash: hashOf(Buffer.from('text')), size: 4 })
  expect(readFileSync(join(blobs(directory), 'pack')).equals(before)).toBe(true)
})

test('content that was only partly written is written again, and all content before it is intact', () => {
  const directory = lockedFolder()
  // The bytes of the second content look like a record in the pack.
  const [first, second] = [Buffer.from('first'), Buffer.from(`${'0'.repeat(64)}     3\nabc`)]
  const hash = keepBytes(directory, first)
  const pack = join(blobs(directory), 'pack')
  const { length } = readFileSync(pack)
  keepBytes(directory, second)
  const whole = readFileSync(pack)
  for (const end of [length + 1, length + 71, whole.length - 1]) {
    truncateSync(pack, end)
    // Meanwhile, the pack of another session is changed, as another process might do.
    keepBytes(lockedFolder(), first)
    expect(keptBytes(directory, hash).toString()).toBe('first')
    expect(() => keptBytes(directory, hashOf(second))).toThrow('ENOENT')
    keepBytes(directory, second)
    expect(readFileSync(pack).equals(whole)).toBe(true)
  }
  appendFileSync(pack, 'x'.repeat(200))
  keepBytes(directory, Buffer.from('third'))
  keepBytes(lockedFolder(), first)
  expect(keptBytes(directory, hashOf(Buffer.from('third'))).toString()).toBe('third')
})

test('damaged content is not used', () => {
  const directory = lockedFolder()
  const [small, large] = [Buffer.from('small'), randomBytes(100_000)]
  const hashes = [keepBytes(directory, small), keepBytes(directory, large)]
  const pack = join(blobs(directory), 'pack')
  writeFileSync(pack, readFileSync(pack, 'latin1').replace('small', 'smell'), 'latin1')
  writeFileSync(join(blobs(directory), hashes[1] ?? ''), randomBytes(100_000))
  for (const [index, hash] of hashes.entries()) {
    expect(() => keptBytes(directory, hash)).toThrow('is damaged: its content has changed since it was stored')
    expect(() => checkKept(directory, hash, [5, 100_000][index] ?? 0)).toThrow('is damaged')
  }
})

test('contents that an earlier version stored in separate files can be read', () => {
  const directory = lockedFolder()
  mkdirSync(blobs(directory), { recursive: true })
  const hash = hashOf(Buffer.from('old'))
  writeFileSync(join(blobs(directory), hash), 'old')
  expect(keptBytes(directory, hash).toString()).toBe('old')
  checkKept(directory, hash, 3)
  expect(keptPiece(directory, hash, 3)).toEqual({ file: join(blobs(directory), hash), start: 0, length: 3 })
})
