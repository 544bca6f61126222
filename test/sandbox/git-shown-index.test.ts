import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSandbox, parseIndex, parsePolicy, shownIndex } from '../../sandbox/index.ts'
import { shownOwner } from '../../sandbox/shown-owner.ts'
import { tempDir } from '../support/temp-dir.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { closeLater, run } from './helpers.ts'

/** A repository whose index has this version. In version 4, paths are compressed. */
function repository(version: string, names: readonly string[] = ['a.txt', 'b.txt']): string {
  const cwd = tempDir()
  for (const name of names) writeFileSync(join(cwd, name), name)
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
    const shown = shownIndex(index)
    const owner = Buffer.alloc(8)
    owner.writeUInt32BE(shownOwner().uid)
    owner.writeUInt32BE(shownOwner().gid, 4)
    const expected = stats(index)?.map(([path, stat = '']) => [
      path,
      `${stat.slice(0, 56)}${owner.toString('hex')}${stat.slice(72)}`,
    ])
    expect(expected).toHaveLength(2)
    expect(stats(shown)).toEqual(expected)
    // Git itself accepts the index's checksum and content.
    writeFileSync(join(cwd, '.git/index'), shown)
    execFileSync('git', ['fsck', '--strict'], { cwd, stdio: 'pipe' })
    expect(execFileSync('git', ['ls-files'], { cwd }).toString()).toBe('a.txt\nb.txt\n')
  },
)

test('other owners get the id that the kernel shows for owners outside a user namespace', () => {
  const index = readFileSync(join(repository('2'), '.git/index'))
  const entries = parseIndex(index, 20) ?? []
  for (const { stat } of entries) {
    stat.writeUInt32BE(4_000_000, 28)
    stat.writeUInt32BE(4_000_001, 32)
  }
  // A checksum of zeros means that there is none (`index.skipHash`).
  index.fill(0, index.length - 20)
  const overflow = (65534).toString(16).padStart(8, '0')
  expect(stats(shownIndex(index))?.map(([, stat]) => stat?.slice(56, 72))).toEqual([
    `${overflow}${overflow}`,
    `${overflow}${overflow}`,
  ])
})

test('a file that is not an index stays as it is', () => {
  const text = Buffer.from(`no index${' '.repeat(100)}`)
  expect(shownIndex(text)).toBe(text)
})

describeInBoth('git’s index in %s', ({ backend, test: testIn, readableRoots }) => {
  const inSandbox = async (workspace: string, script: string): Promise<string> => {
    const policy = parsePolicy({ mode: 'workspace-write', workspace, readableRoots })
    const sandbox = closeLater(await openSandbox(policy, { backend, image }))
    return (await run(sandbox, script)).stdout
  }

  testIn('matches the files, so that git doesn’t read all of them again', async () => {
    const names = Array.from({ length: 300 }, (_, number) => `${number}.txt`)
    const cwd = repository('2', names)
    execFileSync('sh', ['-c', 'touch -d 2020-01-01 *.txt && git update-index --refresh'], { cwd })
    // This command lists the files whose metadata differs from the index, without reading them.
    expect(await inSandbox(cwd, 'git diff-files --name-only')).toBe('')
  })

  testIn('doesn’t hide a change of a file that is as new as the index', async () => {
    const cwd = repository('2')
    const at = '-d 2020-01-01'
    execFileSync('sh', ['-c', `touch ${at} *.txt; git update-index --refresh; touch ${at} .git/index`], { cwd })
    execFileSync('sh', ['-c', `git config core.trustctime false; printf A.txt > a.txt; touch ${at} a.txt`], { cwd })
    expect(await inSandbox(cwd, 'git status --porcelain')).toContain('AM a.txt\n')
  })
})
