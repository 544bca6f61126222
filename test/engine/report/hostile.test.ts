import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { RunEvent } from '../../../engine/core/events.ts'
import { collectReport } from '../../../engine/report/collect.ts'
import { renderReport } from '../../../engine/report/render-report.ts'
import { openPage, whyNoChromium, type Opened } from '../../support/chromium.ts'
import { hostileStrings } from '../../support/hostile-strings.ts'
import { testUnless } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Schema = {
  readonly [key in 'properties']?: Readonly<Record<string, Schema>>
} & {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
}

/** Everything that a schema allows, with this text wherever any text may stand: of each alternative one. */
function filled(schema: Schema, text: string): readonly unknown[] {
  if (schema.const !== undefined) return [schema.const]
  if (schema.enum !== undefined) return [schema.enum.at(-1)]
  const alternatives = schema.oneOf ?? schema.anyOf
  if (alternatives !== undefined) return alternatives.flatMap((each) => filled(each, text))
  if (schema.type === 'string') return [text]
  if (schema.type === 'number' || schema.type === 'integer') return [1]
  if (schema.type === 'boolean') return [true]
  if (schema.type === 'null') return [null]
  if (schema.type === 'array') return [schema.items === undefined ? [text] : filled(schema.items, text)]
  if (schema.type !== 'object') return [{ content: [{ type: 'text', text }], text }]
  const fields = Object.entries(schema.properties ?? {}).map(([name, each]) => [name, filled(each, text)] as const)
  const most = Math.max(1, ...fields.map(([name, values]) => (name === 'item' ? values.length : 1)))
  return Array.from({ length: most }, (_, at) =>
    Object.fromEntries(fields.map(([name, values]) => [name, values[at] ?? values[0]])),
  )
}

const schema = z.toJSONSchema(RunEvent, { io: 'input' }) as Schema

/** Every event that there is, once with each of these texts in all of its texts. */
function pageOf(texts: readonly string[]): string {
  const beginning = { at: 1, type: 'begin', prompt: texts[0], context: texts, version: texts[0] }
  const events = texts.flatMap((text) => filled(schema, text)) as readonly { readonly type: string }[]
  const order = ['thread.started', 'item.started', 'item.completed']
  const told = [
    ...events
      .filter(({ type }) => order.includes(type))
      .toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type)),
    { at: 2, type: 'summary', files: texts.map((path) => ({ path, kind: path, by: 'command' })) },
    ...events.filter(({ type }) => !order.includes(type)),
  ]
  const file = join(tempDir(), 'events.jsonl')
  writeFileSync(file, [beginning, ...told].map((event) => `${JSON.stringify(event)}\n`).join(''))
  const report = collectReport(file)
  return typeof report === 'string' ? expect.fail(report) : renderReport(report, 'html')
}

const ownPolicy = (page: string): string =>
  (
    /<meta\s+http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(page)?.[1] ?? expect.fail('no policy')
  ).replaceAll('&#39;', "'")

/** The elements of a page in order, without those that Markdown and colours make. */
function elementsOf({ dom }: Pick<Opened, 'dom'>): readonly string[] {
  const names: string[] = []
  let inMarkdown = 0
  for (const [tag, slash, name = ''] of dom.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
    if (inMarkdown > 0) {
      if (name === 'div') inMarkdown += slash === '/' ? -1 : 1
      if (!markdownElements.has(name)) names.push(`in Markdown: ${tag}`)
    } else if (slash === '' && tag.startsWith('<div class="md"')) inMarkdown = 1
    else if (slash === '' && !(name === 'span' && /class="h[a-z]"/.test(tag))) names.push(name)
  }
  return names
}

const markdownElements: ReadonlySet<string> = new Set(
  'a blockquote br code del div em hr li ol p pre span strong table tbody td th thead tr ul'.split(' '),
)

const groups = Array.from({ length: 10 }, (_, at) => hostileStrings.slice(at * 20, at * 20 + 20))

test('there are two hundred hostile strings', () => {
  expect(new Set(hostileStrings).size).toBe(200)
  expect(groups.flat()).toHaveLength(200)
})

const inBrowser = testUnless(whyNoChromium())

describe('a page of every event with hostile strings in all of its texts', () => {
  inBrowser.each(groups.map((texts, at) => [at + 1, texts] as const))(
    'runs nothing, asks for nothing, breaks no policy, and has the elements of a harmless one (%i of 10)',
    async (_, texts) => {
      const page = pageOf(texts)
      const opened = await openPage(page, ownPolicy(page))
      expect(opened.dom).toContain('</html>')
      expect(opened.dom).not.toMatch(/<html[^>]* data-ran/)
      expect({ requests: opened.requests, violations: opened.violations }).toEqual({ requests: [], violations: [] })
      const hrefs = [...opened.dom.matchAll(/<[a-z][^>]* href="([^"]*)"/g)].map(([, href = '']) => href)
      expect(hrefs.filter((href) => !/^(?:#[\w-]+$|https?:\/\/|mailto:)/.test(href))).toEqual([])
      const harmless = pageOf(texts.map(({ length }, at) => `${at}`.padEnd(length, 'h')))
      expect(elementsOf(opened).filter(isSteady)).toEqual(elementsOf({ dom: harmless }).filter(isSteady))
    },
  )

  inBrowser(
    'is readable where neither style nor script may be used, as under the policy that Jenkins sends',
    async () => {
      const page = pageOf(['words that are to be read', 'and others'])
      const jenkins = "sandbox allow-same-origin; default-src 'none'; img-src 'self'; style-src 'self'"
      const { dom, requests } = await openPage(page, jenkins)
      expect(requests).toEqual([])
      expect(dom).toContain('words that are to be read')
      expect(dom).toContain('id="step-1"')
    },
  )

  inBrowser('would be seen to run, to ask and to break its policy', async () => {
    const page = pageOf(['x']).replace('<main>', `<main>${hostileStrings.slice(0, 3).join('')}`)
    const opened = await openPage(page, ownPolicy(page))
    expect(opened.violations.length).toBeGreaterThan(0)
    const free =
      '<!doctype html><html><body><script>document.documentElement.dataset.ran=1;fetch("http://evil.example/ran")</script></body></html>'
    const ran = await openPage(free, "default-src * data: blob: 'unsafe-inline'")
    expect(ran.dom).toMatch(/<html[^>]* data-ran/)
    expect(ran.requests.join()).toContain('evil.example')
  })
})

/** How many lines say what was left out of long texts depends on how long they were, and the parser adds what a page need not say. */
function isSteady(name: string): boolean {
  return !['p', 'tbody', 'br', 'span', 'li'].includes(name)
}
