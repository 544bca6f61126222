import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const secret = 'zebra-quartz-4417-plain'

test('the value of a withheld variable that the model says is masked in the message, its event, -o, reports and the summary of a job', async () => {
  const [home, out] = [tempDir(), tempDir()]
  const at = (name: string): string => join(out, name)
  const told = await exec(
    [[say(`the value is ${secret}.`)]],
    [
      '--json',
      '-s',
      'danger-full-access',
      '-o',
      at('o.md'),
      '--report',
      at('r.md'),
      '--report',
      at('r.html'),
      `say ${secret}`,
    ],
    {
      cwd: repository(),
      home,
      env: { DEPLOY_TOKEN: secret, GITHUB_STEP_SUMMARY: at('summary.md'), GITHUB_ACTIONS: 'true' },
    },
  )
  expect(told.code).toBe(0)
  expect(told.events).toContainEqual(
    expect.objectContaining({
      item: expect.objectContaining({ type: 'agent_message', text: 'the value is [DEPLOY_TOKEN].' }),
    }),
  )
  expect(readFileSync(at('o.md'), 'utf8')).toContain('the value is [DEPLOY_TOKEN].')
  for (const name of ['o.md', 'r.md', 'r.html']) expect(readFileSync(at(name), 'utf8')).not.toContain(secret)
  expect(`${told.stdout}${told.stderr}`).not.toContain(secret)
})

test('it is masked on the standard output of a run without events', async () => {
  const told = await exec([[say(`the value is ${secret}.`)]], ['-s', 'danger-full-access', 'x'], {
    cwd: repository(),
    env: { DEPLOY_TOKEN: secret },
  })
  expect(told.stdout).toBe('the value is [DEPLOY_TOKEN].\n')
  expect(told.stderr).not.toContain(secret)
})

test('a value with line breaks and quotation marks is also masked in a final message that is JSON, and without the line break at its end', async () => {
  const value = '{"key": "-----BEGIN-----\\nq7zebra\\n"}\n"quartz"\n'
  const out = join(tempDir(), 'o.json')
  const schema = join(tempDir({ 's.json': '{"type":"object","properties":{"said":{"type":"string"}}}' }), 's.json')
  const message = JSON.stringify({ said: `${value.trim()}, and that is all` })
  const told = await exec(
    [[say(message)]],
    ['--json', '-s', 'danger-full-access', '-o', out, '--output-schema', schema, 'x'],
    { cwd: repository(), env: { DEPLOY_KEY: value } },
  )
  expect([told.code, JSON.parse(readFileSync(out, 'utf8'))]).toEqual([0, { said: '[DEPLOY_KEY], and that is all' }])
  expect(`${told.stdout}${told.stderr}`).not.toContain('zebra')
})
