import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { batchPlace, expectWhole, tasksFile } from '../../support/batch.ts'
import { startWorker } from '../../support/batch-worker.ts'
import { say, startMockOpenAI } from '../../support/mock-openai.ts'
import { testUnlessOnCi } from '../../support/needs.ts'
import { startRedis, whyNoRedis } from '../../support/redis.ts'

// A thousand tasks take minutes, so only the soak tests run them.
const tasks = process.env['SOAK'] === undefined ? 12 : 1000
const places = 2

/** Command-line arguments for a model whose quota is used up at the seventh request and for some seconds after it. */
async function modelWithQuota(): Promise<readonly string[]> {
  let isEmpty = false
  const mock = await startMockOpenAI({
    replies: (_, index) => {
      if (index === 6) {
        isEmpty = true
        setTimeout(() => (isEmpty = false), 2000)
      }
      const body = { error: { message: 'no credit', code: 'insufficient_quota' } }
      return isEmpty
        ? { status: 429, headers: { 'retry-after': '3' }, body }
        : { say: [say('done')], usage: { input: 1000 } }
    },
  })
  onTestFinished(() => mock.close())
  return [
    '-m',
    'gpt-5.5',
    '-c',
    `openai_base_url="${mock.baseUrl}"`,
    '-c',
    'model_prices={"gpt-5.5"={input=1000,output=0}}',
  ]
}

const carriers = [
  ['here', test],
  ['on Redis', testUnlessOnCi(whyNoRedis())],
] as const

for (const [carrier, testIt] of carriers) {
  testIt(
    `quota that is used up at the seventh of ${tasks} runs ${carrier} pauses the batch, which goes on by itself and uses up no attempt`,
    async () => {
      const ids = Array.from({ length: tasks }, (_, at) => `t${at}`)
      const place = batchPlace({ 'tasks.jsonl': tasksFile(ids) }, { OPENAI_API_KEY: 'sk-test-key' })
      const redis = carrier === 'here' ? undefined : await startRedis()
      const words = [
        ...['run', 'tasks.jsonl', '-o', 'out', '-w', String(places), '--attempts', '1', '--retry-seconds', '0.01'],
        ...(await modelWithQuota()),
        ...(redis === undefined ? [] : ['--queue', redis.url]),
      ]
      const running = place.run(words)
      if (redis !== undefined) await startWorker(place, redis, '-w', String(places))
      expect((await running).code).toBe(0)
      const journal = place.lines('journal.jsonl')
      expect(journal.filter(({ type }) => type === 'paused')).not.toEqual([])
      const quota = journal.filter(({ type, outcome }) => type === 'attempt-ended' && outcome === 'quota').length
      // Besides the seventh request, at most one is refused: a request that was sent at the same time.
      expect([1, 2]).toContain(quota)
      expect(place.json('summary.json')).toMatchObject({
        ...{ settled: tasks, outcomes: { done: tasks }, attempts: tasks + quota, cost_usd: tasks },
      })
      await expectWhole(place, words)
    },
    3_600_000,
  )
}
