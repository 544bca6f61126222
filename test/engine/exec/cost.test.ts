import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, eventsOf } from '../../support/agent.ts'
import { call, say, startMockOpenAI, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access']
/** Prices of a thousand dollars per million tokens for input and output: one token costs a tenth of a cent. */
const prices = ['-c', 'model_prices={"gpt-5.5"={input=1000,cached_input=100,output=1000}}']
const step = (index: number, usage = { input: 90, output: 10 }) => ({
  say: [call('exec_command', { cmd: `echo ${index}` })],
  usage,
})

/** Prices at which a few answers use up half a dollar. */
const dear = ['-c', 'model_prices={"gpt-5.5"={input=1,output=10}}']

/** Simulates a run that never finishes. The provider bills 10,000 output tokens for each request, or fewer if the request sets a lower limit. */
function greedy(args: readonly string[]) {
  const limits: number[] = []
  const exhaust = async () => {
    const mock = await startMockOpenAI({
      replies: ({ body }, index) => {
        const { max_output_tokens: limit = 128_000 } = body as { readonly max_output_tokens?: number }
        limits.push(limit)
        return { ...step(index), usage: { input: 10_000, output: Math.min(limit, 10_000) } }
      },
    })
    onTestFinished(() => mock.close())
    const flags = [
      'exec',
      '-m',
      'gpt-5.5',
      '-c',
      `openai_base_url=${mock.baseUrl}`,
      ...open,
      ...dear,
      '--json',
      ...args,
    ]
    const env = { OPENAI_API_KEY: 'sk-test-key' }
    const ended = await agent([...flags, 'x'], { cwd: repository(), home: tempDir(), env })
    return { ...ended, events: eventsOf(ended.stdout) }
  }
  return { exhaust, limits }
}

test('an attempt that failed costs what the provider says, and a price that no model has is refused', async () => {
  const failed: Reply = {
    say: [say('x')],
    usage: { input: 90, output: 10 },
    end: { type: 'failed', code: 'server_error', message: 'later' },
  }
  const ended = await exec(
    [failed, { say: [say('ok')], usage: { input: 90, output: 10 } }],
    [...open, ...prices, '--json', 'x'],
    {
      cwd: repository(),
    },
  )
  expect(ended.events.at(-1)).toMatchObject({ cost_usd: 0.2, usage: { input_tokens: 180, output_tokens: 20 } })
  const dearest = ['-c', 'model_prices={"gpt-5.5"={input=1e308,output=1}}']
  const refused = await exec([[say('never')]], [...open, ...dearest, 'x'], { cwd: repository() })
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('model_prices.gpt-5.5.input')])
})

describe('--max-tokens', () => {
  test('ends the run with exit code 4 before a request that could pass it, and holds answers to what is left', async () => {
    const { exhaust, limits } = greedy(['--max-tokens', '100000'])
    const { code, events } = await exhaust()
    expect(code).toBe(4)
    const last = events.at(-1)
    if (last?.type !== 'turn.failed') throw new Error('no end')
    expect(last.error.message).toMatch(
      /^The budget is too small for the next request: \d+ tokens have been used \(--max-tokens 100000\), and the request/,
    )
    const used = last.usage.input_tokens + last.usage.output_tokens
    expect(used).toBeGreaterThan(70_000)
    expect(used).toBeLessThanOrEqual(100_000)
    expect(limits).toEqual(limits.toSorted((a, b) => b - a))
  })

  test('ends the run if the provider does not count', async () => {
    const { code, events, requests } = await exec(
      (index) => step(index, { input: 0, output: 0 }),
      [...open, '--json', '--max-tokens', '1000000', 'x'],
      { cwd: repository() },
    )
    expect([code, requests.length]).toEqual([4, 1])
    expect(events.at(-1)).toMatchObject({ error: { message: expect.stringContaining("can't be enforced") } })
  })
})

test('model_max_output_tokens is asked for in every request', async () => {
  const args = [...open, '-c', 'model_max_output_tokens=5000', 'x']
  const { requests } = await exec([[say('ok')]], args, { cwd: repository() })
  expect(requests[0]?.body).toMatchObject({ max_output_tokens: 5000 })
})

describe('--max-cost', () => {
  test('ends the run with exit code 4 before a request that could pass it, and holds answers to what is left', async () => {
    const { exhaust, limits } = greedy(['--max-cost', '0.5'])
    const { code, events } = await exhaust()
    expect(code).toBe(4)
    const last = events.at(-1)
    expect(last).toMatchObject({ type: 'turn.failed', reason: 'budget', exit_code: 4 })
    if (last?.type !== 'turn.failed') throw new Error('no end')
    expect(last.error.message).toMatch(
      /^The budget is too small for the next request: \$0\.\d+ has been spent \(--max-cost 0\.5\), and the request could cost \$0\.\d+ \(\d+ tokens sent, and up to 2048 in the answer\)\.$/,
    )
    // The budget is almost used up: what is left would not pay for another request.
    expect(last.cost_usd).toBeGreaterThan(0.45)
    expect(last.cost_usd).toBeLessThanOrEqual(0.5)
    expect(limits.length).toBeGreaterThan(3)
    expect(limits).toEqual(limits.toSorted((a, b) => b - a))
    for (const limit of limits) expect(limit).toBeLessThan(128_000)
  })

  test('counts an answer that is cut off at the remaining budget, and sends no further request', async () => {
    const cut: Reply = {
      say: [say('I was about to')],
      usage: { input: 10_000, output: 40_000 },
      end: { type: 'incomplete', reason: 'max_output_tokens' },
    }
    const { code, events, requests } = await exec([cut], [...open, ...dear, '--json', '--max-cost', '0.5', 'x'], {
      cwd: repository(),
    })
    expect([code, requests.length]).toEqual([4, 1])
    expect(events.at(-1)).toMatchObject({
      reason: 'budget',
      cost_usd: 0.41,
      error: { message: expect.stringMatching(/cut off after the \d+ tokens that were left/) },
    })
  })

  test('does not limit the length of answers if the budget is large enough', async () => {
    const { code, requests } = await exec([[say('ok')]], [...open, '--max-cost', '100', 'x'], { cwd: repository() })
    expect(code).toBe(0)
    expect(requests[0]?.body).not.toHaveProperty('max_output_tokens')
  })

  test('also holds for delegated agents', async () => {
    const handing: Reply = {
      say: [call('agent', { title: 'look', prompt: 'look around' })],
      usage: { input: 10_000, output: 47_000 },
    }
    const { code, events, requests } = await exec([handing], [...open, ...dear, '--json', '--max-cost', '0.5', 'x'], {
      cwd: repository(),
    })
    expect([code, requests.length]).toEqual([4, 1])
    const [item] = events.flatMap((event) => (event.type === 'item.completed' ? [event.item] : []))
    expect(item).toMatchObject({
      tool: 'agent',
      error: expect.stringContaining('The budget is too small for the next request'),
    })
  })

  test('counts cached tokens at their own price', async () => {
    const reply: Reply = { say: [say('ok')], usage: { input: 100, cached: 90, output: 10 } }
    const { code, events, stderr } = await exec([reply], [...open, ...prices, '--json', '--max-cost', '1000', 'x'], {
      cwd: repository(),
    })
    expect(code).toBe(0)
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', cost_usd: 0.029, total_cost_usd: 0.029 })
    expect(stderr).toContain('cost: $0.029')
  })

  test('is refused for a model without a known price, with advice on how to set it', async () => {
    const { code, stderr, requests } = await exec(
      [[say('never')]],
      [...open, '-c', 'model_provider=local', '-c', 'model_providers={local={base_url="http://127.0.0.1:9"}}'].concat([
        '--max-cost',
        '1',
        'x',
      ]),
      { cwd: repository() },
    )
    expect(code).toBe(2)
    expect(stderr).toContain(`-c 'model_prices={"gpt-5.5"={input=`)
    expect(requests).toHaveLength(0)
  })

  test('is refused for a fallback model without a known price', async () => {
    const fallback = ['-c', 'fallback_models=["ollama/qwen3"]']
    const { code, stderr } = await exec([], [...open, ...fallback, '--max-cost', '1', 'x'], { cwd: repository() })
    expect(code).toBe(2)
    expect(stderr).toContain("the price of 'ollama/qwen3' is not known")
  })

  test('ends the run if the provider does not count', async () => {
    const { code, events } = await exec(
      (index) => step(index, { input: 0, output: 0 }),
      [...open, '--json', '--max-cost', '1', 'x'],
      { cwd: repository() },
    )
    expect(code).toBe(4)
    expect(events.at(-1)).toMatchObject({ error: { message: expect.stringContaining("can't be enforced") } })
  })

  test.each(['0', '-1', 'much'])('%s is refused', async (value) => {
    const { code, stderr } = await exec([], [`--max-cost=${value}`, 'x'], { cwd: repository() })
    expect(code).toBe(2)
    expect(stderr).toContain('expected an amount of US dollars above 0')
  })
})

test('an unknown price is reported, and the run has no cost', async () => {
  const reply: Reply = { say: [say('ok')], usage: { input: 5, output: 5 } }
  const { events, stderr } = await exec([reply], [...open, '-m', 'gpt-nobody-knows-it', '--json', 'x'], {
    cwd: repository(),
  })
  expect(events.at(-1)).not.toHaveProperty('cost_usd')
  expect(stderr).toContain('cost: unknown')
})

test('a resumed run reports its own usage and that of the whole session', async () => {
  const home = tempDir()
  const cwd = repository()
  const reply: Reply = { say: [say('ok')], usage: { input: 40, output: 10 } }
  await exec([reply], [...open, ...prices, 'one'], { cwd, home })
  const second = await exec([reply], [...open, ...prices, '--json', 'resume', '--last', 'two'], { cwd, home })
  expect(second.events.at(-1)).toMatchObject({
    usage: { input_tokens: 40, output_tokens: 10 },
    total_usage: { input_tokens: 80, output_tokens: 20 },
    cost_usd: 0.05,
    total_cost_usd: 0.1,
  })
  const fork = await exec([reply], [...open, ...prices, '--json', 'fork', '--last', 'three'], { cwd, home })
  expect(fork.events.at(-1)).toMatchObject({ total_usage: { input_tokens: 40 }, total_cost_usd: 0.05 })
})
