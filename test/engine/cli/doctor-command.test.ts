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
