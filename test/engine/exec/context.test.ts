import { expect, test } from 'vitest'
import { builtInTools } from '../../../engine/app/built-in-tools.ts'
import { agent } from '../../support/agent.ts'
import { say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { exec, repository } from '../../support/workspace.ts'

test('the instructions of user and repository reach the model, before the prompt', async () => {
  const home = tempDir({
    '.config/portcullis/AGENTS.md': 'speak plainly',
    '.claude/CLAUDE.md': 'told Claude Code',
    '.codex/AGENTS.md': 'told Codex',
    '.codex/AGENTS.override.md': 'told Codex for now',
    '.gemini/GEMINI.md': 'told Gemini CLI',
  })
  const cwd = repository({ 'AGENTS.md': 'run make', '.claude/CLAUDE.md': 'in a folder', 'CLAUDE.local.md': 'for me' })
  const { requests } = await exec([[say('ok')]], ['-s', 'danger-full-access', 'mend the till'], { cwd, home })
  const body = JSON.stringify(requests[0]?.body)
  const told = ['told Claude Code', 'told Codex for now', 'told Gemini CLI', 'speak plainly', 'run make', 'in a folder']
  const order = [...told, 'for me', 'mend the till'].map((text) => body.indexOf(text))
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(order).not.toContain(-1)
})

test('--show-context prints them with their files, and asks no model', async () => {
  const cwd = repository({ 'AGENTS.md': 'run make, see @gone.md' })
  const { code, stdout } = await agent(['exec', '--show-context'], { cwd, home: tempDir() })
  expect(code).toBe(0)
  expect(stdout).toContain(`<instructions file="${cwd}/AGENTS.md">\nrun make, see @gone.md\n</instructions>`)
  expect(stdout).toContain(`The instructions in ${cwd}/gone.md are left out: `)
})

test('a run reports which instructions the model does not get', async () => {
  const cwd = repository({ 'AGENTS.md': 'see @gone.md' })
  const { stderr } = await exec([[say('ok')]], ['-s', 'danger-full-access', 'x'], { cwd })
  expect(stderr).toContain(`The instructions in ${cwd}/gone.md are left out: ${cwd}/AGENTS.md imports this file`)
})

test.skipIf(needsBubblewrap())('instructions bring along nothing that a tool could not read', async () => {
  const cwd = repository({
    'AGENTS.md': 'see @closed/plan.md, @.env, @notes/private.md and @open.md',
    'closed/plan.md': 'hidden by the sandbox',
    '.env': 'KEY=hidden by the Guardian',
    'notes/private.md': 'hidden by a permission',
    'open.md': 'to be told',
  })
  const config = `sandbox_read.deny = [${JSON.stringify(`${cwd}/closed`)}]\npermissions.deny = ["Read(//**/private.md)"]\n`
  const home = tempDir({ '.config/portcullis/config.toml': config })
  const { requests, stderr } = await exec([[say('ok')]], ['x'], { cwd, home })
  const told = JSON.stringify(requests[0]?.body)
  expect(told).toContain('to be told')
  expect(told).not.toContain('hidden by')
  for (const name of ['closed/plan.md', '.env', 'notes/private.md']) {
    expect(stderr).toContain(`The instructions in ${cwd}/${name} are left out: `)
  }
})

test('--show-context prints the instructions for the model that would be asked', async () => {
  const options = { cwd: repository(), home: tempDir() }
  const { stdout } = await agent(['exec', '--show-context', '-m', 'claude-opus-4-5'], options)
  expect(stdout).toContain('*** Begin Patch')
})

test.skipIf(needsBubblewrap())('the built program declares what tools take as the sources derive it', async () => {
  // The run has a sandbox and somebody to ask, so tools declare the fields in which a call can request more access. Its model gets the tools' own
  // descriptions.
  const asking = [
    '-m',
    'gpt-4.1',
    '--ask-for-approval',
    'on-request',
    '--approval-program',
    'cat',
    '-c',
    'tool_search="off"',
  ]
  const { requests } = await exec([[say('ok')]], [...asking, 'x'], { cwd: repository() })
  const { tools } = requests[0]?.body as { tools: { type: string; name: string; parameters?: unknown }[] }
  // A run that can delegate work has its own variant of `task_create`.
  const common = builtInTools.filter(({ name }) => name !== 'task_create')
  const derived = new Map(common.map(({ name, declaration }) => [name, declaration?.parameters]))
  const declared = tools.filter(({ type, name }) => type === 'function' && derived.has(name))
  expect(declared.length).toBeGreaterThan(15)
  for (const { name, parameters } of declared) {
    expect(JSON.stringify(parameters), name).toBe(JSON.stringify(derived.get(name)))
  }
})
