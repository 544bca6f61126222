import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { collectReport } from '../../../engine/report/collect.ts'
import { renderReport } from '../../../engine/report/render-report.ts'
import { tempDir } from '../../support/temp-dir.ts'

const start = (config: object = {}) => ({
  type: 'thread.started',
  thread_id: 't',
  config: { model: 'm', cwd: '/w', sandbox_mode: 'workspace-write', sandbox_backend: 'bubblewrap', ...config },
})
const command = (id: string, more: object = {}) => ({
  type: 'item.completed',
  item: {
    ...{ id, type: 'command_execution', command: `echo ${id}`, aggregated_output: `${id} said\n`, exit_code: 0 },
    ...{ status: 'completed', ...more },
  },
})
const spent = (tokens: number) => ({ type: 'spent', tokens, costUsd: tokens / 1000 })

function pageOf(...events: readonly object[]): string {
  const file = join(tempDir(), 'events.jsonl')
  writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  const report = collectReport(file)
  return typeof report === 'string' ? expect.fail(report) : renderReport(report, 'html')
}

test('a page has one script of at most 10 KB, and its policy is the first thing in its head', () => {
  const page = pageOf(start(), command('a'))
  const scripts = [...page.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)]
  expect(scripts.map(([, attributes]) => attributes)).toEqual([''])
  expect(scripts[0]?.[2]?.length).toBeLessThan(10_000)
  expect(page).toMatch(/<head>\s*<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; /)
})

test('the steps of an agent are nested under its name, and each step has a link of its own', () => {
  const page = pageOf(start(), command('a'), command('b', { agent_id: 'agent-1' }), command('c'))
  const [nested = ''] = /<section class="agent">[^]*?<\/section>/.exec(page) ?? []
  expect(nested).toMatch(/<h3>agent agent-1<\/h3>[^]*b said/)
  expect(nested).not.toMatch(/[ac] said/)
  for (const number of [1, 2, 3]) expect(page).toMatch(new RegExp(`href="#step-${number}"[^]*id="step-${number}"`))
})

test('a chart shows tokens and cost over the steps, if there were at least two responses', () => {
  const page = pageOf(start(), spent(1000), command('a'), spent(3000), command('b'))
  expect(page).toContain('aria-label="3.00k tokens, $3.00 in 2 responses"')
  expect(pageOf(start(), spent(1000), command('a'))).not.toContain('<svg')
})

test('a cut output says how much is missing, and which file contains all of it', () => {
  const page = pageOf(start(), command('a', { aggregated_output: 'x'.repeat(50_000), output_file: '/state/a.txt' }))
  expect(page).toMatch(/\[\.\.\. \d+ characters, \d+ lines left out [^\]]*\/state\/a\.txt \.\.\.\]/)
  expect(page).toContain('<code>/state/a.txt</code>')
})

test('characters that hide or reorder text are shown by their numbers', () => {
  const page = pageOf(start(), command('a', { command: 'rm \u202etxt.\u200b', aggregated_output: '\u2066\u{e0041}\n' }))
  for (const shown of ['\\u{202e}', '\\u{200b}', '\\u{2066}', '\\u{e0041}']) expect(page).toContain(shown)
  expect(page).not.toMatch(/[\u200b\u202e\u2066\u{e0041}]/u)
})

test.each([
  [{ sandbox_mode: 'danger-full-access' }, 'Commands were not confined'],
  [{ network: 'full' }, 'Commands could reach any host'],
])('the top of a page says what was outside the sandbox: %j', (config, words) => {
  const [header = ''] = /<header>[^]*?<\/header>/.exec(pageOf(start(config), command('a'))) ?? []
  expect(header).toContain('Outside the sandbox')
  expect(header).toContain(words)
  expect(pageOf(start(), command('a'))).not.toContain('Outside the sandbox')
})
