import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseIndex, shownIndex } from '../../sandbox/index.ts'
import { shownOwner } from '../../sandbox/shown-owner.ts'
import { tempDir } from '../support/temp-dir.ts'

/** A repository whose index has this version: in the fourth, paths are packed. */
function repository(version: string): string {
  const cwd = tempDir()
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(cwd, name), name)
  execFileSync('git', ['init', '-q'], { cwd })
  execFileSync('git', ['-c', `index.version=${version}`, 'add', '.'], { cwd })
  return cwd
}

const stats = (index: Buffer) => parseIndex(index, 20)?.map(({ path, stat }) => [path, stat.toString('hex')])

test.each(['2', '4'])(
  'an index of version %s names the owner that commands see, and says all else as it did',
  (version) => {
    const cwd = repository(version)
    const index = readFileSync(join(cwd, '.git/index'))
    const shown = shownIndex(index, Math.floor(Date.now() / 1000) + 10)
    const owner = Buffer.alloc(8)
    owner.writeUInt32BE(shownOwner().uid)
    owner.writeUInt32BE(shownOwner().gid, 4)
    const expected = stats(index)?.map(([path, stat = '']) => [
      path,
      `${stat.slice(0, 56)}${owner.toString('hex')}${stat.slice(72)}`,
    ])
    expect(expected).toHaveLength(2)
    expect(stats(shown)).toEqual(expected)
    // Git itself finds its checksum right, and what it holds.
    writeFileSync(join(cwd, '.git/index'), shown)
    execFileSync('git', ['fsck', '--strict'], { cwd, stdio: 'pipe' })
    expect(execFileSync('git', ['ls-files'], { cwd }).toString()).toBe('a.txt\nb.txt\n')
  },
)

test('a file with the same time as the index is marked for a new check, because git would trust its entry in a copy', () => {
  const cwd = repository('2')
  const { mtimeMs } = statSync(join(cwd, '.git/index'))
  const shown = shownIndex(readFileSync(join(cwd, '.git/index')), Math.floor(mtimeMs / 1000) - 1)
  expect(stats(shown)?.map(([, stat]) => stat?.slice(0, 32))).toEqual(['0'.repeat(32), '0'.repeat(32)])
})

test('a file that is not an index stays as it is', () => {
  const text = Buffer.from('no index')
  expect(shownIndex(text, 0)).toBe(text)
})
