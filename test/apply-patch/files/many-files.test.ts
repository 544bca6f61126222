/** The memory that a patch of 20,000 files takes. With the sources as they are, it would take more, so this test runs the built program. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { tempDir } from '../../support/temp-dir.ts'

const program = new URL('../../../dist/bin/apply-patch.js', import.meta.url).pathname

test('a patch of 20,000 files takes little more than twice the memory of a small one', () => {
  const [root, other] = [tempDir(), tempDir()]
  const names = Array.from({ length: 20_000 }, (_, index) => `d${index % 200}/file${index}.txt`)
  for (let index = 0; index < 200; index++) mkdirSync(join(root, `d${index}`))
  for (const name of names) writeFileSync(join(root, name), `one ${name}\ntwo\nthree\n`)
  const updates = names.map((name) => `*** Update File: ${name}\n@@\n one ${name}\n-two\n+changed\n three\n`)
  writeFileSync(join(other, 'patch'), `*** Begin Patch\n${updates.join('')}*** End Patch\n`)
  const report = `process.on('exit', () => process.stderr.write(\`\${process.resourceUsage().maxRSS / 1024}\`))`
  writeFileSync(join(other, 'report.cjs'), report)

  const input = openSync(join(other, 'patch'), 'r')
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', join(other, 'report.cjs'), program], {
    cwd: root,
    env: { XDG_STATE_HOME: join(other, 'state') },
    stdio: [input, 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 1 << 24,
  })
  closeSync(input)
  expect(status).toBe(0)
  expect(stdout).toBe(`Success. Updated the following files:\n${names.map((name) => `M ${name}\n`).join('')}`)
  for (const name of names.slice(-200)) expect(readFileSync(join(root, name), 'utf8')).toContain('\nchanged\n')
  // A small patch takes 55 MiB. Without the options for V8, this one takes 210.
  expect(Number(stderr)).toBeLessThan(130)
}, 120_000)
