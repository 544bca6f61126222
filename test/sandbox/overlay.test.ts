import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { explainRefusal, withLookUp } from '../../sandbox/views/overlay-view.ts'
import { tempDir } from '../support/temp-dir.ts'

test.each([
  ['unshare: unshare failed: Operation not permitted\n', 'the system does not let this process create a namespace'],
  [
    'unshare: write failed /proc/self/uid_map: Operation not permitted',
    'the system does not let this process create a namespace',
  ],
  ['mount: /x: wrong fs type, bad option, bad superblock on overlay', 'set XDG_STATE_HOME to a folder on a local disk'],
  ['mount: /x: permission denied.', 'no overlay can be mounted (mount: /x: permission denied.)'],
  ['', 'no reason was given'],
])('what keeps an overlay from being mounted is said: %s', (said, words) => {
  expect(explainRefusal(said, '0', 1000)).toContain(words)
})

test('a refusal by AppArmor says that an ordinary user can’t mount an overlay, and what an administrator can do', () => {
  // As on Ubuntu 24.04, the namespace is created, but has no privileges.
  const said = 'mount: /home/u/.local/state/portcullis/mounted/x/0: permission denied.'
  expect(explainRefusal(said, '1', 1000)).toContain('kernel.apparmor_restrict_unprivileged_userns=0')
  expect(explainRefusal(said, '1', 0)).not.toContain('AppArmor')
})

test.runIf(process.platform === 'linux')(
  'files are looked up beside the program, which keeps its input, arguments and exit code',
  () => {
    const tree = join(tempDir(), '-a tree')
    mkdirSync(tree)
    const program = ['/bin/sh', '-c', 'read line; echo "$line $*"', 'sh', '--', 'b c']
    const [file = '', ...words] = withLookUp([tree, tree], program)
    expect(words.filter((word) => word === tree)).toHaveLength(2)
    expect(execFileSync(file, words, { input: 'a\n', encoding: 'utf8' })).toBe('a -- b c\n')
    const [, ...failing] = withLookUp([tree], ['/bin/sh', '-c', 'exit 7'])
    expect(() => execFileSync(file, failing)).toThrow(expect.objectContaining({ status: 7 }))
  },
)

test.runIf(process.platform === 'linux')('looking up files ends when the program ends', async () => {
  const tree = tempDir()
  for (let at = 0; at < 20_000; at += 1) writeFileSync(join(tree, `${at}`), '')
  const [file = '', ...words] = withLookUp(
    Array.from({ length: 50 }, () => tree),
    ['/bin/sleep', '1'],
  )
  execFileSync(file, words)
  await vi.waitFor(() => {
    expect(commandLines().filter((line) => line.includes(tree))).toEqual([])
  }, 20_000)
})

/** The command lines of all processes. */
function commandLines(): readonly string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8')] : []
    } catch {
      return []
    }
  })
}
