import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Model, ModelEvent, Usage } from '../../../engine/core/model.ts'
import { defineTool } from '../../../engine/tools/define-tool.ts'
import { calls, resultsIn, says, scriptedModel, scriptedRun, type Response } from '../../support/scripted-run.ts'
import { tempDir } from '../../support/temp-dir.ts'

const command = (cmd: string, id: string): Response => {
  return () => [calls('exec_command', { cmd }, id)]
}
const done: Response = () => [says('done')]

describe('a budget', () => {
  const responses = [command('true', '1'), command('true', '2'), command('true', '3'), done]

  test.each([
    [3, 'budget', 'The budget is used up: 3 turns (--max-turns 3).'],
    [4, 'done', undefined],
  ])('of %s turns allows that many responses and no more', async (maxTurns, reason, error) => {
    const { summary, history } = await scriptedRun({ responses, budget: { maxTurns } })
    expect([summary.reason, summary.error]).toEqual([reason, error])
    expect(resultsIn(history).length).toBeGreaterThanOrEqual(2)
  })

  const usage: Usage = {
    inputTokens: 10_000,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 100,
    reasoningOutputTokens: 0,
  }

  /** A model whose every response uses 10,100 tokens. */
  function spending(): Model {
    const inner = scriptedModel(responses)
    return {
      name: 'scripted',
      async *respond(request, signal): AsyncIterable<ModelEvent> {
        for await (const event of inner.respond(request, signal)) {
          yield event.type === 'end' ? { type: 'end', usage } : event
        }
      },
    }
  }

  test.each([
    [20_000, 'budget', 1],
    [500_000, 'done', 4],
  ])('of %s tokens ends the run before a request that could exceed it', async (maxTokens, reason, requests) => {
    const { summary } = await scriptedRun({ responses: [], model: spending(), budget: { maxTokens } })
    expect([summary.reason, summary.usage.input_tokens / 10_000]).toEqual([reason, requests])
  })

  test.each([
    [{ maxTokens: 10_100 }, '10100 tokens (--max-tokens 10100).'],
    [{ maxCost: 0.0101 }, '$0.0101 (--max-cost 0.0101).'],
  ])('that an answer uses up exactly is used up: %j', async (budget, said) => {
    const overrides = ['model_prices={"scripted"={input=1,output=1}}', 'model_max_output_tokens=50']
    const { summary } = await scriptedRun({ responses: [], model: spending(), overrides, budget })
    expect([summary.reason, summary.error]).toEqual(['budget', `The budget is used up: ${said}`])
  })

  test.each([
    [0.02, 'budget', 1],
    [5, 'done', 4],
  ])('of $%s ends the run before a request that could exceed it', async (maxCost, reason, requests) => {
    const { summary } = await scriptedRun({
      responses: [],
      model: spending(),
      overrides: ['model_prices={"scripted"={input=1,output=1}}'],
      budget: { maxCost },
    })
    expect([summary.reason, summary.costUsd]).toEqual([reason, Number((0.0101 * requests).toFixed(4))])
  })
})

describe('in plan mode', () => {
  test('commands, patches, and tools that change something without asking the Guardian are refused', async () => {
    const workspace = tempDir()
    const poke = defineTool({
      name: 'poke',
      description: 'Changes something.',
      input: z.object({}),
      run: () => {
        writeFileSync(join(workspace, 'poked.txt'), '')
        return Promise.resolve({ ok: true, output: 'poked' })
      },
    })
    const responses: Response[] = [
      () => [calls('poke', {}, 'poke'), calls('exec_command', { cmd: 'touch command.txt' }, 'command')],
      done,
    ]
    const tools = [poke]
    const { summary, history } = await scriptedRun({ workspace, plan: true, tools, responses })
    expect(resultsIn(history)).toEqual([
      ['poke', expect.stringContaining('Plan mode is on')],
      ['command', expect.stringContaining('Plan mode is on')],
    ])
    expect([summary.denied.length, readdirSync(workspace)]).toEqual([2, []])
    const outside = await scriptedRun({ workspace, tools, responses })
    expect(outside.summary.denied).toEqual([])
    expect(readdirSync(workspace).toSorted()).toEqual(['command.txt', 'poked.txt'])
  })

  test('a run whose every call was refused is not done', async () => {
    const { summary } = await scriptedRun({
      plan: true,
      responses: [command('touch a', '1'), command('git push', '2'), command('npm install left-pad', '3'), done],
    })
    expect([summary.exitCode, summary.reason]).toEqual([3, 'stoppedByGuardian'])
  })
})

describe('refused calls', () => {
  const untrusted = ['approval_policy=untrusted']

  test('of different kinds, in three responses, and no other call: the run is not done', async () => {
    const { summary } = await scriptedRun({
      overrides: untrusted,
      responses: [command('npm test', '1'), command('git push', '2'), command('rm -r x', '3'), done],
    })
    expect([summary.exitCode, summary.error]).toEqual([
      3,
      'Every call was refused, in 3 responses, so nothing was done. Each refused call says what was refused, and why.',
    ])
  })

  test.each([
    ['task_list', {}],
    ['task_output', { task_id: 'task-1' }],
  ])('and calls that only ask about other work (%s): the run is not done', async (name, input) => {
    const { summary } = await scriptedRun({
      overrides: untrusted,
      responses: [
        command('npm test', '1'),
        (): readonly ModelEvent[] => [calls(name, input, '2')],
        command('git push', '3'),
        command('rm -r x', '4'),
        done,
      ],
    })
    expect([summary.exitCode, summary.error]).toEqual([3, expect.stringContaining('Every call was refused')])
  })

  test.each([
    ['in two responses', [command('npm test', '1'), command('git push', '2'), done]],
    [
      'in three responses, and a call that was made',
      [command('npm test', '1'), command('git push', '2'), command('ls', '3'), command('rm -r x', '4'), done],
    ],
  ])('%s are no reason to call the run anything but done', async (_, responses) => {
    const { summary } = await scriptedRun({ overrides: untrusted, responses })
    expect(summary.exitCode).toBe(0)
  })

  test('that ask for the same thing three times in a row end the run', async () => {
    const { summary, history } = await scriptedRun({
      overrides: untrusted,
      responses: [
        command('ls', '0'),
        command('git push origin main', '1'),
        command('env git push origin main', '2'),
        command('git push --force origin main', '3'),
        done,
      ],
    })
    expect([summary.exitCode, summary.finalMessage]).toEqual([3, ''])
    expect(summary.error).toContain('3 responses in a row requested only the same thing')
    expect(JSON.stringify(history)).toContain('a third attempt ends the run')
  })
})

describe('refused look-ups', () => {
  const lookUps = (count: number): readonly Response[] =>
    Array.from({ length: count }, (_, at) => (): readonly ModelEvent[] => [
      calls('web_fetch', { url: `https://host${at}.example/page${at}` }, `${at}`),
    ])

  test.each([
    [9, 'Every call was refused, in 9 responses'],
    [10, '10 responses in a row made only look-ups'],
  ])('in %s responses in a row', async (count, said) => {
    const { summary } = await scriptedRun({
      mode: 'workspace-write',
      overrides: ['approval_policy=untrusted'],
      responses: [...lookUps(count), done],
    })
    expect([summary.exitCode, summary.error]).toEqual([3, expect.stringContaining(said)])
  })
})

describe('a run that changed nothing', () => {
  test('has the result no-change, and is a failure only if the caller says so', async () => {
    expect((await scriptedRun({ responses: [done] })).summary).toMatchObject({ exitCode: 0, result: 'no-change' })
    expect((await scriptedRun({ responses: [done], failOnNoChange: true })).summary).toMatchObject({
      exitCode: 1,
      error: 'The run changed nothing, so it failed because of --fail-on-no-change.',
    })
  })

  test('is told from one that changed a file', async () => {
    const { summary } = await scriptedRun({ responses: [command('touch x', '1'), done], failOnNoChange: true })
    expect(summary).toMatchObject({ exitCode: 0, result: 'done' })
  })
})
