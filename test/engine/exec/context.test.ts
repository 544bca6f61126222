import { expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

test('the instructions of user and repository reach the model, before the prompt', async () => {
  const home = tempDir({ '.config/portcullis/AGENTS.md': 'speak plainly' })
  const cwd = repository({ 'AGENTS.md': 'run make' })
  const { requests } = await exec([[say('ok')]], ['-s', 'danger-full-access', 'the task'], { cwd, home })
  const body = JSON.stringify(requests[0]?.body)
  const order = ['speak plainly', 'run make', 'the task'].map((text) => body.indexOf(text))
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(order).not.toContain(-1)
})

test('--show-context prints them with their files, and asks no model', async () => {
  const cwd = repository({ 'AGENTS.md': 'run make, see @gone.md' })
  const { code, stdout } = await agent(['exec', '--show-context'], { cwd, home: tempDir() })
  expect(code).toBe(0)
  expect(stdout).toContain(`<instructions file="${cwd}/AGENTS.md">\nrun make, see @gone.md\n</instructions>`)
  expect(stdout).toContain(`left out: ${cwd}/gone.md`)
})
