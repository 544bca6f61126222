import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

const open = ['-s', 'danger-full-access']
/** A thousand dollars for a million tokens either way: one token is a tenth of a cent. */
const prices = ['-c', 'model_prices={"gpt-5.5"={input=1000,cached_input=100,output=1000}}']
const step = (index: number, usage = { input: 90, output: 10 }): Reply => ({
  say: [call('exec_command', { cmd: `echo ${index}` })],
  usage,
})

describe('--max-cost', () => {
  test('ends the run with exit code 4 before a request that can only pass it', async () => {
    const { code, events, requests } = await exec(
      (index) => step(index),
      [...open, ...prices, '--json', '--max-cost', '0.205', 'x'],
      {
        cwd: repository(),
      },
    )
    expect(code).toBe(4)
    expect(requests).toHaveLength(2)
    expect(events.at(-1)).toMatchObject({
      type: 'turn.failed',
      reason: 'budget',
      error: {
        message: 'The budget is used up: $0.2 of --max-cost 0.205, and the next request would cost $0.01 at least.',
      },
      cost_usd: 0.2,
    })
  })

  test('counts what the cache holds at its own price', async () => {
    const reply: Reply = { say: [say('ok')], usage: { input: 100, cached: 90, output: 10 } }
    const { code, events, stderr } = await exec([reply], [...open, ...prices, '--json', '--max-cost', '1', 'x'], {
      cwd: repository(),
    })
    expect(code).toBe(0)
    expect(events.at(-1)).toMatchObject({ type: 'turn.completed', cost_usd: 0.029, total_cost_usd: 0.029 })
    expect(stderr).toContain('cost: $0.029')
  })

  test('is refused for a model whose price nobody has said, with how to say it', async () => {
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

  test('is refused for a fallback model whose price nobody has said', async () => {
    const fallback = ['-c', 'fallback_models=["ollama/qwen3"]']
    const { code, stderr } = await exec([], [...open, ...fallback, '--max-cost', '1', 'x'], { cwd: repository() })
    expect(code).toBe(2)
    expect(stderr).toContain("the price of 'ollama/qwen3' is not known")
  })

  test('ends the run where the provider does not count', async () => {
    const { code, events } = await exec(
      (index) => step(index, { input: 0, output: 0 }),
      [...open, '--json', '--max-cost', '1', 'x'],
      { cwd: repository() },
    )
    expect(code).toBe(4)
    expect(events.at(-1)).toMatchObject({ error: { message: expect.stringContaining("can't be kept") } })
  })

  test.each(['0', '-1', 'much'])('%s is refused', async (value) => {
    const { code, stderr } = await exec([], [`--max-cost=${value}`, 'x'], { cwd: repository() })
    expect(code).toBe(2)
    expect(stderr).toContain('expected an amount of US dollars above 0')
  })
})

test('a model whose price is not known says so, and its run has no cost', async () => {
  const reply: Reply = { say: [say('ok')], usage: { input: 5, output: 5 } }
  const { events, stderr } = await exec([reply], [...open, '-m', 'gpt-99', '--json', 'x'], { cwd: repository() })
  expect(events.at(-1)).not.toHaveProperty('cost_usd')
  expect(stderr).toContain('cost: unknown')
})

test('a resumed run tells what it took, and what the whole session took', async () => {
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
