import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { needsBubblewrap } from '../../support/needs.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { repository } from '../../support/workspace.ts'
import { done, items, run, toldModel, withHooks } from './run-support.ts'

const asking = (type: 'agent' | 'prompt', more: object = {}) => ({
  PreToolUse: [{ matcher: 'Bash', hooks: [{ type, prompt: 'May this run? $ARGUMENTS', ...more }] }],
})
const judge = (ok: boolean, reason = ''): Reply => [say(JSON.stringify({ ok, reason }))]

describe.skipIf(needsBubblewrap())('an agent hook', () => {
  test('looks at files before it judges, and its verdict counts', async () => {
    const cwd = repository({ 'POLICY.md': 'Nobody touches anything on Sundays.\n' })
    const look = [call('read_file', { path: 'POLICY.md' })]
    const replies = [run('touch ran'), look, judge(false, 'POLICY.md minds'), done]
    const ended = await withHooks(asking('agent'), replies, { cwd })
    expect(ended.code, ended.stderr).toBe(0)
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
    expect(JSON.stringify(ended.requests[1]?.body)).toContain('touch ran')
    expect(JSON.stringify(ended.requests[2]?.body)).toContain('Nobody touches anything on Sundays')
    expect(toldModel(ended)).toContain('POLICY.md minds')
    expect(items(ended)).toMatchObject([
      { type: 'tool_call', tool: 'read_file', agent_id: 'hook-1', status: 'completed' },
      { type: 'hook', event: 'PreToolUse', status: 'blocked', message: 'POLICY.md minds' },
      { type: 'tool_call', status: 'declined' },
      { type: 'agent_message' },
    ])
  })

  test('allows a call that it does not object to', async () => {
    const ended = await withHooks(asking('agent'), [run('touch ran'), judge(true), done])
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(true)
  })

  test('can only look', async () => {
    const replies = [run('touch ran'), run('touch planted'), judge(false, 'no'), done]
    const ended = await withHooks(asking('agent'), replies)
    const { tools } = ended.requests[1]?.body as { readonly tools: readonly { readonly name: string }[] }
    expect(tools.map(({ name }) => name)).toEqual(['glob', 'grep', 'list_dir', 'read_file', 'view_image'])
    expect(existsSync(join(ended.cwd, 'planted'))).toBe(false)
  })

  test('is asked only about the run’s calls, while other hooks are asked about its own', async () => {
    const hooks = {
      PreToolUse: [
        { hooks: [{ type: 'agent', prompt: 'May it?' }] },
        { matcher: 'Read', hooks: [{ type: 'command', command: 'echo "that one is private" >&2; exit 2' }] },
      ],
    }
    const look = [call('read_file', { path: 'private.txt' })]
    const cwd = repository({ 'private.txt': 'the secret\n' })
    const ended = await withHooks(hooks, [run('touch ran'), look, judge(true), done], { cwd })
    expect(ended.requests).toHaveLength(4)
    expect(JSON.stringify(ended.requests[2]?.body)).toContain('that one is private')
    expect(JSON.stringify(ended.requests[2]?.body)).not.toContain('the secret')
  })

  test('that does not answer in JSON is asked again, and forbids if it never does', async () => {
    const mended = await withHooks(asking('agent'), [run('touch ran'), [say('Sure!')], judge(true), done])
    expect(existsSync(join(mended.cwd, 'ran'))).toBe(true)
    const never = [say('Sure!')]
    const lost = await withHooks(asking('agent'), [run('touch ran'), never, never, never, never, done])
    expect(existsSync(join(lost.cwd, 'ran'))).toBe(false)
    expect(toldModel(lost)).toContain('A guard hook that fails blocks the action that it guards')
  })

  test('that takes too long forbids', async () => {
    const look = [call('list_dir', {})]
    const slow = (index: number): Reply => (index === 0 ? run('touch ran') : index < 40 ? look : done)
    const ended = await withHooks(asking('agent', { timeout: 0.001 }), slow)
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
    expect(items(ended)).toContainEqual(
      expect.objectContaining({ type: 'hook', status: 'failed', message: expect.stringContaining('took longer') }),
    )
  })
})

describe.skipIf(needsBubblewrap())("a hook's request to a model", () => {
  const usage = { input: 100, output: 10 }

  for (const type of ['prompt', 'agent'] as const) {
    test(`counts towards the run's tokens and cost: ${type}`, async () => {
      const price = `model_prices={"gpt-5.5"={input=10.0,cached_input=1.0,output=100.0}}`
      const replies: Reply[] = [
        { say: [call('exec_command', { cmd: 'touch ran' })], usage },
        { say: [say('{"ok": true, "reason": ""}')], usage },
        { say: [say('done')], usage },
      ]
      const ended = await withHooks(asking(type), replies, { args: ['-c', price] })
      expect(existsSync(join(ended.cwd, 'ran'))).toBe(true)
      expect(ended.events.at(-1)).toMatchObject({ usage: { input_tokens: 300, output_tokens: 30 } })
      const { cost_usd: cost } = ended.events.at(-1) as { readonly cost_usd?: number }
      expect(cost).toBeCloseTo(0.006)
    })

    test(`ends with the run's budget: ${type}`, async () => {
      const replies = (index: number): Reply =>
        index === 0
          ? { say: [call('exec_command', { cmd: 'touch ran' })], usage: { input: 99_000, output: 500 } }
          : { say: [say('{"ok": true, "reason": ""}')], usage }
      const used = await withHooks(asking(type), replies, { args: ['--max-tokens', '100000'] })
      expect([used.code, used.requests.length]).toEqual([4, 1])
      expect(existsSync(join(used.cwd, 'ran'))).toBe(false)
    })
  }
})
