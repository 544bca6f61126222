import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { call } from '../../support/mock-openai.ts'
import { isRunning } from '../../support/is-running.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

describe.skipIf(needsBubblewrap())('after a run that was killed in the middle of a command', () => {
  test.each([
    ['agent exec', ['exec', '--skip-git-repo-check', '--trust', '--show-context']],
    ['agent doctor', ['doctor', '--skip-git-repo-check', '-m', 'ollama/any']],
    ['agent sandbox', ['sandbox', '--', 'true']],
    ['agent sessions', ['sessions', 'list']],
    ['agent config', ['config', 'show']],
  ])('%s moves what was planted away before it reads anything, and says so', async (_, words) => {
    const [workspace, home] = [tempDir(), tempDir()]
    // The runs' directories are in a separate temporary directory, where no other test searches for them.
    const env = { TMPDIR: tempDir() }
    const planted = join(workspace, '.portcullis/config.toml')
    const plant = 'mkdir .portcullis; echo "not toml" > .portcullis/config.toml; sleep 600'
    const killed = await agent(['sandbox', '--in-place', '--', 'sh', '-c', plant], {
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
  test('a command on a view has left nothing in the workspace', async () => {
    const [workspace, home] = [repository(), tempDir()]
    const killed = await agent(['sandbox', '--', 'sh', '-c', 'echo x > planted; sleep 602.5'], {
      cwd: workspace,
      home,
      onStart: (child) => {
        const timer = setInterval(() => {
          if (!isRunning('602.5')) return
          clearInterval(timer)
          child.kill('SIGKILL')
        }, 10)
      },
    })
    expect(killed.signal).toBe('SIGKILL')
    const { code, stderr } = await agent(['sandbox', '--', 'true'], { cwd: workspace, home })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(readdirSync(workspace)).not.toContain('planted')
  })

  test('the next command of any kind removes the folder of a killed ephemeral session', async () => {
    const [cwd, temp] = [repository(), tempDir()]
    const env = { TMPDIR: temp }
    const killed = await exec([[call('exec_command', { cmd: 'sleep 601.5' })]], ['--ephemeral', 'x'], {
      cwd,
      env,
      onStart: (child) => {
        const timer = setInterval(() => {
          if (!isRunning('601.5')) return
          clearInterval(timer)
          child.kill('SIGKILL')
        }, 10)
      },
    })
    expect(killed.signal).toBe('SIGKILL')
    expect(readdirSync(temp)).not.toEqual([])
    expect((await agent(['sessions', 'list'], { cwd, home: tempDir(), env })).code).toBe(0)
    expect(readdirSync(temp)).toEqual([])
  })
})
