import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { hidingBubblewrap, needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

test.skipIf(needsBubblewrap())('agent doctor says that bubblewrap confines here, in words and as data', async () => {
  const args = ['doctor', '--skip-git-repo-check', '-m', 'ollama/any']
  const words = await agent(args, { cwd: tempDir(), home: tempDir() })
  expect(words.code).toBe(0)
  expect(words.stdout).toContain('commands are confined by bubblewrap')
  const data = await agent([...args, '--json'], { cwd: tempDir(), home: tempDir() })
  expect(JSON.parse(data.stdout)).toMatchObject({ chosen: 'bubblewrap' })
})

test.skipIf(needsBubblewrap())(
  'where bubblewrap is missing it says how to install it, and exits as a run would',
  async () => {
    const ended = await agent(['doctor'], { cwd: tempDir(), home: tempDir(), startedBy: hidingBubblewrap })
    expect(ended.code).toBe(5)
    expect(ended.stdout).toContain('apt-get install bubblewrap')
  },
)

test.skipIf(process.platform !== 'linux')(
  'what commands see is listed with the reason, and what of the home they don’t, with sizes',
  async () => {
    const [home, cwd] = [tempDir(), tempDir()]
    for (const folder of ['.cargo/registry', '.cargo/bin', 'Documents', '.nvm'])
      mkdirSync(join(home, folder), { recursive: true })
    writeFileSync(join(home, '.cargo/credentials.toml'), 'x')
    writeFileSync(join(home, 'Documents/taxes.txt'), 'x'.repeat(100_000))
    const data = await agent(['doctor', '--view', '--json'], { cwd, home })
    expect(data.code, data.stderr).toBe(0)
    const { home: kind, shown, leftOut } = JSON.parse(data.stdout)
    expect(kind).toBe('closed')
    expect(shown).toContainEqual({ path: cwd, access: 'writable', why: 'workspace' })
    expect(shown).toContainEqual({ path: '/usr', access: 'read-only', why: 'system' })
    expect(shown).toContainEqual({ path: join(home, '.cargo/registry'), access: 'kept', why: 'Rust' })
    expect(shown).toContainEqual({ path: join(home, '.cargo/bin'), access: 'read-only', why: 'Rust' })
    const out = leftOut.filter(({ path }: { path: string }) => path.startsWith(home))
    expect(out.map(({ path }: { path: string }) => path).toSorted()).toEqual(
      expect.arrayContaining([join(home, '.cargo/credentials.toml'), join(home, 'Documents')]),
    )
    expect(out.find(({ path }: { path: string }) => path.endsWith('Documents')).bytes).toBeGreaterThanOrEqual(100_000)
    const words = await agent(['doctor', '--view'], { cwd, home })
    expect(words.stdout).toContain(`  ${join(home, '.cargo/registry')}\tRust, writable until the run ends\n`)
    expect(words.stdout).toMatch(/ {2}1\d\d\.\d KiB\t.*Documents/)
    const open = await agent(['doctor', '--view', '--open-home'], { cwd, home })
    expect(open.stdout).toMatch(/^Commands see this whole machine/)
  },
)
