import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { describeRequest, estimateTokens } from '../../support/first-request.ts'
import { say } from '../../support/mock-model.ts'
import { startMockOpenAI } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { wires } from '../models/wires.ts'

/** Models of all families, each with the wire format of its requests and the maximum number of tokens in its first request. */
const families = [
  { model: 'gpt-5.5', wire: 'Responses', mostTokens: 3500 },
  { model: 'gpt-4.1', wire: 'Responses', mostTokens: 3500 },
  { model: 'claude-opus-5-5', wire: 'Messages', mostTokens: 4500 },
  { model: 'gemini-3-pro', wire: 'Chat Completions', mostTokens: 4500 },
] as const

const golden = (model: string): string =>
  new URL(`../../../fixtures/first-requests/${model}.md`, import.meta.url).pathname

async function firstRequest(model: string, name: string, more: readonly string[] = []): Promise<unknown> {
  const wire = wires.find((one) => one.wire === name)
  if (wire === undefined) throw new Error(`no wire ${name}`)
  const mock = await wire.mock({ replies: [[say('done')]] })
  onTestFinished(() => mock.close())
  const { args, env } = wire.agent(mock.baseUrl)
  const [provider] = wire.model.includes('/') ? wire.model.split('/') : []
  const asked = provider === undefined ? model : `${provider}/${model}`
  const cwd = repository({ 'a.txt': 'one\n' })
  // The branch is named explicitly, because the default name depends on this machine's settings.
  execFileSync('git', ['-C', cwd, 'symbolic-ref', 'HEAD', 'refs/heads/main'])
  const words = ['exec', '-m', asked, ...args, ...more, 'mend the till']
  const { code, stderr } = await agent(words, { cwd, home: tempDir(), env })
  expect(code, stderr).toBe(0)
  return JSON.parse(JSON.stringify(mock.requests[0]?.body).replaceAll(cwd, '<<cwd>>'))
}

test('the built program keeps the name of OpenAI’s client', async () => {
  const mock = await startMockOpenAI({ replies: () => [say('done')] })
  onTestFinished(() => mock.close())
  const args = ['exec', '-m', 'gpt-5.5', '-s', 'danger-full-access', '-c', `openai_base_url=${mock.baseUrl}`, 'x']
  const { code, stderr } = await agent(args, { cwd: repository(), home: tempDir(), env: { OPENAI_API_KEY: 'k' } })
  expect(code, stderr).toBe(0)
  expect(mock.requests[0]?.headers['user-agent']).toMatch(/^OpenAI\/JS \d/)
})

describe.skipIf(needsBubblewrap())('the first request of a run', () => {
  test.each(families)('to $model is the same as reviewed, and small', async ({ model, wire, mostTokens }) => {
    const body = await firstRequest(model, wire)
    const text = describeRequest(body)
    if (process.env['GOLDEN'] === '1') {
      mkdirSync(dirname(golden(model)), { recursive: true })
      writeFileSync(golden(model), text)
    }
    expect(text, 'npm run golden writes it anew; review what has changed').toBe(readFileSync(golden(model), 'utf8'))
    expect(estimateTokens(body, model)).toBeLessThanOrEqual(mostTokens)
  })

  test('explains how to request more only if somebody can grant it', async () => {
    const asking = '"sandbox_permissions"'
    expect(JSON.stringify(await firstRequest('gpt-5.5', 'Responses'))).not.toContain('require_escalated')
    const granted = JSON.stringify(
      await firstRequest('gpt-5.5', 'Responses', [
        '-c',
        'approval_program=["true"]',
        '-c',
        'approval_policy="on-request"',
      ]),
    )
    expect(granted).toContain(asking)
    expect(granted).toContain('repeat the command with sandbox_permissions')
  })
})
