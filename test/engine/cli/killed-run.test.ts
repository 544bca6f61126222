import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

describe.skipIf(needsBubblewrap())('after a run that was killed in the middle of a command', () => {
  test.each([
    ['agent exec', ['exec', '--skip-git-repo-check', '--trust', '--show-context']],
    ['agent doctor', ['doctor']],
    ['agent sandbox', ['sandbox', '--', 'true']],
  ])('%s moves what was planted away before it reads anything, and says so', async (_, words) => {
    const [workspace, home] = [tempDir(), tempDir()]
    // A place for runs that no other test looks through.
    const env = { TMPDIR: tempDir() }
    const planted = join(workspace, '.portcullis/config.toml')
    const plant = 'mkdir .portcullis; echo "not toml" > .portcullis/config.toml; sleep 600'
    const killed = await agent(['sandbox', '--', 'sh', '-c', plant], {
      cwd: workspace,
      home,
      env,
      onStart: (child) => {
        const timer = setInterval(() => {
          if (!existsSync(planted)) return
          clearInterval(timer)
          child.kill('SIGKILL')
        }, 10)
      },
    })
    expect(killed.signal).toBe('SIGKILL')
    const ended = await agent(words, { cwd: workspace, home, env })
    expect(ended.code).toBe(0)
    expect(ended.stderr).toMatch(/a run was killed before .*\.portcullis/)
    expect(existsSync(planted)).toBe(false)
  })
})
