import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TrialResult } from '../../../engine/batch/derived/results.ts'
import type { Outcome } from '../../../engine/batch/outcome.ts'
import { compareModels } from '../../../engine/batch/statistics/compare-models.ts'
import { meanInterval, passAtK, signTest, wilsonInterval } from '../../../engine/batch/statistics/estimates.ts'
import { renderCsv, renderMarkdown, renderText, tableOf } from '../../../engine/batch/statistics/table.ts'
import { batchPlace, recordingOf, tasksFile } from '../../support/batch.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { inline } from '../../../engine/report/markdown/escape.ts'

/** The result of a trial. The outcome `open` stands for a trial that isn't settled yet. */
function result(
  task: string,
  model: string,
  outcome: Outcome | 'open',
  repeat = 1,
  cost: number | null = 1,
): TrialResult {
  const trial = { key: `${task}~${model}~r${repeat}`, task, model, repeat }
  if (outcome === 'open') return { trial, settled: undefined }
  const settled = {
    ...({
      version: 1,
      trial: trial.key,
      attempt: 1,
      outcome,
      tokens: { input: 1, cached: 0, output: 1 },
      turns: 1,
    } as const),
    ...{
      files: 0,
      ended: '2026-01-01T00:00:00.000Z',
      duration_ms: 1000,
      task,
      model,
      repeat,
      manifest: '',
      attempts: 1,
    },
    ...(cost === null ? {} : { total_cost_usd: cost }),
  }
  return { trial, settled }
}

describe('the interval of a share', () => {
  // The values are from Newcombe 1998, table I, method 3.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('is Wilson’s: %i of %i', (successes, trials, low, high) => {
    const found = wilsonInterval(successes, trials)
    expect(found?.value).toBeCloseTo(successes / trials, 12)
    expect(found?.low).toBeCloseTo(low, 4)
    expect(found?.high).toBeCloseTo(high, 4)
  })

  test('contains the share, is between 0 and 1, narrows with more trials, and is mirrored for failures', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(500), (successes, failures) => {
        const trials = successes + failures
        const found = wilsonInterval(successes, trials)
        if (found === undefined) return trials === 0
        const mirrored = wilsonInterval(failures, trials)
        const more = wilsonInterval(successes * 4, trials * 4)
        expect(found.low).toBeGreaterThanOrEqual(0)
        expect(found.low).toBeLessThanOrEqual(found.value)
        expect(found.high).toBeGreaterThanOrEqual(found.value)
        expect(found.high).toBeLessThanOrEqual(1)
        expect(mirrored?.high).toBeCloseTo(1 - found.low, 9)
        expect((more?.high ?? 0) - (more?.low ?? 0)).toBeLessThan(found.high - found.low)
        return true
      }),
    )
  })
})

describe('pass@k', () => {
  test.each([
    [5, 1, 1, 0.2],
    [10, 3, 5, 1 - 21 / 252],
    [10, 1, 10, 1],
    [4, 0, 2, 0],
    [3, 2, 2, 1],
  ])('of %i tries with %i solved, for %i: 1 − C(n−c, k) / C(n, k)', (tries, solved, k, expected) => {
    expect(passAtK(tries, solved, k)).toBeCloseTo(expected, 12)
  })

  test('is the share of all choices of k tries that include a solved one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (tries, k) => {
          const solved = tries.filter(Boolean).length
          if (k > tries.length) return passAtK(tries.length, solved, k) === undefined
          const choices = Array.from({ length: 2 ** tries.length }, (_, bits) =>
            tries.filter((__, at) => (bits >> at) % 2 === 1),
          )
          const ofK = choices.filter((choice) => choice.length === k)
          const share = ofK.filter((choice) => choice.includes(true)).length / ofK.length
          expect(passAtK(tries.length, solved, k)).toBeCloseTo(share, 9)
          return true
        },
      ),
    )
  })
})

describe('a paired difference', () => {
  // The first two values are exact binomial tails: 2 · (1 + 12 + 66) / 4096 and 2 · (1 + 9) / 512. The next two are ties. The last is practically 0.
  test.each([
    [10, 2, 158 / 4096],
    [1, 8, 20 / 512],
    [3, 3, 1],
    [0, 0, 1],
    [0, 2000, 0],
  ])('has the p of the exact sign test: %i better, %i worse', (wins, losses, p) => {
    expect(signTest(wins, losses)).toBeCloseTo(p, 9)
  })

  test('has an interval from its standard error', () => {
    // The mean and the variance are 0.25, so the standard error of four values is 0.25.
    const found = meanInterval([1, 0, 0, 0], { least: -1, most: 1 })
    expect(found?.value).toBe(0.25)
    expect(found?.low).toBeCloseTo(0.25 - 1.959964 * 0.25, 6)
    expect(found?.high).toBeCloseTo(0.25 + 1.959964 * 0.25, 6)
    expect(meanInterval([0.5], { least: -1, most: 1 })).toEqual({ value: 0.5, low: -1, high: 1 })
  })

  test('changes its sign if the models are swapped, and keeps its p', () => {
    const outcome = fc.constantFrom<Outcome>('done', 'failed', 'provider')
    fc.assert(
      fc.property(fc.array(fc.tuple(outcome, outcome), { maxLength: 20 }), (tasks) => {
        const of = (first: string, second: string): readonly TrialResult[] => [
          result('none', first, 'open'),
          result('none', second, 'open'),
          ...tasks.flatMap(([a, b], at) => [result(`t${at}`, 'a', a), result(`t${at}`, 'b', b)]),
        ]
        const one = compareModels(of('a', 'b'))[1]?.versusFirst
        const other = compareModels(of('b', 'a'))[1]?.versusFirst
        expect(other?.difference?.value ?? 0).toBeCloseTo(-(one?.difference?.value ?? 0), 12)
        expect(other).toMatchObject({ p: one?.p, wins: one?.losses, losses: one?.wins, tasks: one?.tasks })
      }),
    )
  })
})

const batch: readonly TrialResult[] = [
  ...[1, 2].flatMap((repeat) => [
    result('easy', 'a', 'done', repeat),
    result('easy', 'b', 'done', repeat, 3),
    result('hard', 'a', repeat === 1 ? 'done' : 'failed', repeat),
    result('hard', 'b', 'failed', repeat, 3),
    result('odd', 'a', 'provider', repeat),
    result('odd', 'b', 'budget', repeat, 3),
  ]),
  result('late', 'a', 'open'),
  result('late', 'b', 'lost', 1, null),
]

describe('the statistics of a batch', () => {
  test('compute shares only over answers, count the cost of all runs, and count runs without an answer separately', () => {
    const models = compareModels(batch)
    expect(models[0]).toMatchObject({
      ...{ model: 'a', trials: 7, answers: 4, solved: 3, tasks: 2, solvedTasks: 2, open: 1 },
      ...{ costUsd: 6, costPerSolvedUsd: 2, msPerSolved: 2000, unpriced: 0, withoutAnswer: { provider: 2 } },
      share: { value: 0.75 },
      passAt: [
        { k: 1, value: 0.75, tasks: 2 },
        { k: 2, value: 1, tasks: 2 },
      ],
    })
    expect(models[1]).toMatchObject({ answers: 6, solved: 2, costUsd: 18, unpriced: 1, withoutAnswer: { lost: 1 } })
    expect(models.map(({ versusFirst }) => versusFirst)).toMatchObject([
      undefined,
      { tasks: 2, difference: { value: -0.25 }, wins: 0, losses: 1, p: 1 },
    ])
  })

  test('never depend on the order of the results', () => {
    const sorted = [...compareModels(batch)]
    fc.assert(
      fc.property(fc.shuffledSubarray([...batch], { minLength: batch.length }), (shuffled) => {
        const models = compareModels(shuffled).toSorted((a, b) => ((a.model ?? '') < (b.model ?? '') ? -1 : 1))
        const withoutVersus = (all: typeof models) => all.map(({ versusFirst: _, ...rest }) => rest)
        expect(withoutVersus(models)).toEqual(withoutVersus(sorted))
      }),
      { numRuns: 20 },
    )
  })

  test('are a table in text and Markdown, and figures in full as CSV', () => {
    const statistics = compareModels(batch)
    const text = renderText(tableOf(statistics))
    expect(text).toMatch(
      /^model +solved +95 % +pass@1 +pass@2 +cost\/solved +time\/solved +cost +no answer +to the first +95 % /,
    )
    expect(text).toMatch(
      /\na +3\/4 75\.0 % +30\.1 % … 95\.4 % +75\.0 % +100\.0 % +\$2\.00 +2\.0 s +\$6\.00 +2 provider, 1 open +– +– +– +– +–\n/,
    )
    expect(text).toMatch(/\nb +2\/6 33\.3 % .* ≥ \$9\.00 .* 1 lost +-25\.0 +-74\.0 … \+24\.0 +0 : 1 +2 +1\.000\n/)
    expect(renderMarkdown(tableOf(statistics), inline)).toContain('| model | solved |')
    const [heads, first, second] = renderCsv(statistics).trimEnd().split('\r\n')
    expect(heads).toMatch(
      /^model,trials,answers,solved,tasks,solved_tasks,share,share_low,share_high,pass_at_1,pass_at_2,cost_usd,/,
    )
    expect(first).toMatch(/^a,7,4,3,2,2,0\.75,0\.30\d+,0\.95\d+,0\.75,1,6,0,2,6000,2000,2,1,,,,,,$/)
    expect(second).toMatch(/,-0\.25,-0\.7\d+,0\.2\d+,0,1,1$/)
  })

  test('state no share and no price if no run has an answer', () => {
    const statistics = compareModels([result('x', 'a', 'provider'), result('y', 'a', 'open')])
    expect(renderText(tableOf(statistics))).toMatch(/\na +0\/0 – +– +– +– +\$1\.00 +1 provider, 1 open\n$/)
  })

  test('a model’s name is escaped in every table', () => {
    const name = '=cmd("<b>|x</b>")'
    const statistics = compareModels([result('x', name, 'done')])
    expect(renderCsv(statistics)).toContain(`"'=cmd(""<b>|x</b>"")"`)
    expect(renderMarkdown(tableOf(statistics), inline)).not.toMatch(/[^\\]\|x/)
  })
})

test.skipIf(needsBubblewrap())(
  'a batch of two models has its statistics in the folder, on its page and from agent batch report',
  async () => {
    const place = batchPlace({ 'tasks.jsonl': tasksFile(['one', 'two']) })
    const [good, bad] = [recordingOf('echo right > made.txt'), recordingOf('echo wrong > made.txt')]
    const words = [
      '-o',
      'out',
      '-m',
      `${good},${bad}`,
      '--repeat',
      '2',
      '--verify',
      'grep -q right made.txt',
      '--verify-attempts',
      '1',
    ]
    expect(await place.run(['run', 'tasks.jsonl', ...words])).toMatchObject({ code: 1 })
    const whole = await place.run(['report', 'out'])
    expect(whole.code).toBe(0)
    expect(whole.stdout).toMatch(/8 of 8 settled\n.*report\.html\n\nmodel +solved /)
    const json = JSON.parse((await place.run(['report', 'out', '--format', 'json'])).stdout) as {
      readonly models: unknown
    }
    expect(json.models).toMatchObject([
      { model: good, trials: 4, answers: 4, solved: 4, passAt: [{ value: 1 }, { value: 1 }] },
      { model: bad, trials: 4, answers: 4, solved: 0, passAt: [{ value: 0 }, { value: 0 }] },
    ])
    const csv = await place.run(['report', 'out', '--format', 'csv'])
    expect(csv.stdout).toBe(readFileSync(join(place.out, 'statistics.csv'), 'utf8'))
    expect((await place.run(['report', 'out', '--format', 'md'])).stdout).toContain('| to the first |')
    const page = readFileSync(join(place.out, 'report.html'), 'utf8')
    for (const text of ['<h2>Models</h2>', '<th>to the first</th>', 'href="statistics.csv"', '100.0 %'])
      expect(page).toContain(text)
  },
)
