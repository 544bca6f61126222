import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { call } from '../../support/mock-openai.ts'
import { isRunning } from '../../support/is-running.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

describe.skipIf(needsBubblewrap())('after a run that was killed in the middle of a command', () => {
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

  test('the next run or sandboxed command removes the folder of a killed ephemeral session', async () => {
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
    expect((await agent(['sandbox', '--', 'true'], { cwd, home: tempDir(), env })).code).toBe(0)
    expect(readdirSync(temp)).toEqual([])
  })
})
