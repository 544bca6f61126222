import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap, testUnless, whyNotRoot } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec } from '../../support/workspace.ts'

const files = {
  'package.json': JSON.stringify({ name: 'x', version: '1.0.0', scripts: { test: 'node --test a.test.js' } }),
  'a.test.js': "require('node:test')('adds', () => {})\n",
}

/** Makes a repository with a project whose test passes. */
function makeProject(directory: string): void {
  mkdirSync(directory, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const git = (...words: readonly string[]) => execFileSync('git', ['-C', directory, ...words])
  git('init', '--quiet')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@b.test', 'commit', '--quiet', '-m', 'x')
}

const replies = () => [[call('exec_command', { cmd: 'npm test' })], [say('done')]]
const passed = { tests: [expect.objectContaining({ command: 'npm test', outcome: 'passed' })] }

describe.skipIf(needsBubblewrap())('npm test', () => {
  test.each([
    ['below a home that only its owner may enter, most of which is not read', 'project'],
    ['which is such a home itself', '.'],
  ])('passes in a repository %s', async (_, below) => {
    const home = tempDir()
    chmodSync(home, 0o700)
    makeProject(join(home, below))
    const other = join(home, 'Mail/old')
    mkdirSync(other, { recursive: true })
    writeFileSync(join(other, 'letter'), 'x')
    // Reading the directory would set the time of the last access, because this time is before the last change.
    utimesSync(other, new Date(1_000_000), new Date(2_000_000))
    for (const where of [[], ['--in-place']]) {
      const ended = await exec(replies(), ['--json', ...where, 'x'], { cwd: join(home, below), home })
      expect(ended.events.at(-1)).toMatchObject({ type: 'turn.completed', record: passed })
      if (below !== '.') expect(statSync(other).atime).toEqual(new Date(1_000_000))
    }
  })

  const whyNot =
    whyNotRoot('can mount another /tmp') ??
    (spawnSync('unshare', ['-m', 'true']).status === 0 ? undefined : 'unshare makes no mount namespace here')
  testUnless(whyNot)('passes where /tmp itself is the repository', async () => {
    const home = mkdtempSync('/var/tmp/portcullis-test-')
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    makeProject(join(home, 'project'))
    const script = `mount -t tmpfs none /tmp && cp -a ${home}/project/. /tmp && cd /tmp && exec "$@"`
    for (const where of [[], ['--in-place']]) {
      const startedBy = ['unshare', '-m', 'sh', '-c', script, 'sh']
      const ended = await exec(replies(), ['--json', ...where, 'x'], { cwd: home, home, startedBy })
      expect(ended.events.at(-1), ended.stderr).toMatchObject({ type: 'turn.completed', record: passed })
    }
  })
})
