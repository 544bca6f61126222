import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agent } from '../support/agent.ts'
import { tempDir } from '../support/temp-dir.ts'

test.each([
  ['codex', /^codex-cli \d+\.\d+\.\d+ \(Portcullis /],
  ['claude', /^\d+\.\d+\.\d+ \(Claude Code .*Portcullis /],
])('agent shim writes two lines that start agent as %s', async (name, printed) => {
  const [cwd, home] = [tempDir(), tempDir()]
  const { code, stdout } = await agent(['shim', name, 'bin'], { cwd, home })
  const path = join(cwd, 'bin', name)
  expect([code, stdout]).toEqual([0, `${path}\n`])
  expect(readFileSync(path, 'utf8').match(/\n/g)).toHaveLength(2)
  const { stdout: version } = spawnSync(path, ['--version'], { encoding: 'utf8', env: { HOME: home } })
  expect(version).toMatch(printed)
})

test('agent shim covers no other program', async () => {
  const cwd = tempDir()
  mkdirSync(join(cwd, 'bin'))
  writeFileSync(join(cwd, 'bin/codex'), 'theirs')
  const { code, stderr } = await agent(['shim', 'codex', 'bin'], { cwd, home: tempDir() })
  expect(code).toBe(2)
  expect(stderr).toContain("there is something already, and it isn't covered")
  expect([readFileSync(join(cwd, 'bin/codex'), 'utf8'), statSync(join(cwd, 'bin/codex')).mode & 0o111]).toEqual([
    'theirs',
    0,
  ])
})
