import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { agent } from '../../support/agent.ts'
import { testUnless, whyNotRoot } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { testInBubblewrap } from '../helpers.ts'

const testWithMounts = testUnless(whyNot(), testInBubblewrap)

/** Why nothing can be mounted here; undefined if root can. */
function whyNot(): string | undefined {
  const { status } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'x', '/mnt'])
  return whyNotRoot('can mount something') ?? (status === 0 ? undefined : 'nothing can be mounted here')
}

/** Runs a script in a sandbox, in a mount namespace in which another script has mounted something. */
async function after(mounts: string, home: string, cwd: string, script: string): Promise<string> {
  const startedBy = ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', `${mounts}; exec "$@"`, 'sh']
  const args = ['sandbox', '--', 'sh', '-c', `exec 2>&1; ${script}`]
  const { stdout, stderr } = await agent(args, {
    cwd,
    home,
    startedBy,
  })
  return stdout === '' ? stderr : stdout
}

testWithMounts('a cache that is a file system of its own, as in many containers, is there', async () => {
  const [home, cwd] = [tempDir(), tempDir()]
  const cache = join(home, '.cargo/registry')
  mkdirSync(cache, { recursive: true })
  const mounts = `mount -t tmpfs x ${cache}; echo cached > ${cache}/crate`
  expect(
    await after(mounts, home, cwd, 'cat ~/.cargo/registry/crate; echo 1 > ~/.cargo/registry/new && echo written'),
  ).toBe('cached\nwritten\n')
})

testWithMounts('where no overlay can be stored, caches are read-only, and new ones are in /tmp', async () => {
  const [home, cwd, base] = [tempDir(), tempDir(), tempDir()]
  mkdirSync(join(home, '.cargo/registry'), { recursive: true })
  writeFileSync(join(home, '.cargo/registry/crate'), 'cached\n')
  for (const name of ['lower', 'upper', 'work', 'all']) mkdirSync(join(base, name))
  const options = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(base, name)}`).join(',')
  const mounts = `mount -t overlay x -o ${options} ${base}/all; export TMPDIR=${base}/all`
  const script = 'cat ~/.cargo/registry/crate; echo 1 > ~/.cargo/registry/new || echo refused; echo $XDG_CACHE_HOME'
  const said = await after(mounts, home, cwd, script)
  expect(said).toMatch(/^cached\n.*\nrefused\n\/tmp\/\.cache\n/)
})
