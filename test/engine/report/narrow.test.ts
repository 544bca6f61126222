import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { batchPlace, recordingOf, tasksFile } from '../../support/batch.ts'
import { whyNoChromium } from '../../support/chromium.ts'
import { pageOfEveryEvent } from '../../support/every-event-page.ts'
import { needsBubblewrap, testUnless } from '../../support/needs.ts'
import { widthOfPage } from '../../support/page-width.ts'

/** The width of a small phone, in CSS pixels. */
const phone = 360
const onPhone = testUnless(whyNoChromium())
const batchOnPhone = testUnless(whyNoChromium(), test.skipIf(needsBubblewrap()))
const longName = `packages/${'a-name-that-has-no-end_'.repeat(9)}.spec.ts`
const longTask = `django__django-11004${'-with-a-long-name'.repeat(8)}`

onPhone('a run’s page is no wider than a phone, however long the words of its events are', async () => {
  const page = pageOfEveryEvent([longName, 'x'.repeat(5000), '| a | b |\n| - | - |\n| `c` | d |'])
  expect(await widthOfPage(page, phone)).toBe(phone)
  expect(await widthOfPage(page.replace(/<style>[^]*<\/style>/, ''), phone)).toBeGreaterThan(phone)
})

batchOnPhone('a batch’s page is no wider than a phone, and says there which model each cell is about', async () => {
  const page = await batchPage()
  expect(await widthOfPage(page, phone)).toBe(phone)
  expect(page.match(/<td data-model="[^"]*-(?:good|bad)\.jsonl">/g)).toHaveLength(2)
})

/** The page of a batch of one task and two models, one of which completes the task. */
async function batchPage(): Promise<string> {
  const place = batchPlace({ 'tasks.jsonl': tasksFile([longTask]) })
  const model = (name: string, command: string): string => {
    const path = join(place.folder, `${'long-'.repeat(20)}${name}.jsonl`)
    renameSync(recordingOf(command).slice('replay:'.length), path)
    return `replay:${path}`
  }
  const models = [model('good', 'echo x > made.txt'), model('bad', 'true')]
  const ended = await place.run([
    ...['run', 'tasks.jsonl', '-o', 'out', '-m', models.join(','), '--verify', 'test -e made.txt'],
    ...['--verify-attempts', '1'],
  ])
  expect(ended.code).toBe(1)
  return readFileSync(join(place.out, 'report.html'), 'utf8')
}
