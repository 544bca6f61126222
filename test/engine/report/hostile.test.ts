import { describe, expect, test } from 'vitest'
import { openPage, whyNoChromium, type Opened } from '../../support/chromium.ts'
import { pageOfEveryEvent } from '../../support/every-event-page.ts'
import { hostileStrings } from '../../support/hostile-strings.ts'
import { testUnless } from '../../support/needs.ts'

const ownPolicy = (page: string): string =>
  (
    /<meta\s+http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(page)?.[1] ?? expect.fail('no policy')
  ).replaceAll('&#39;', "'")

/**
 * The names of the elements of a page, in order. Elements that come from syntax highlighting are left out, and so are those in Markdown, except
 * elements that Markdown must never create.
 */
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
      const page = pageOfEveryEvent(texts)
      const opened = await openPage(page, ownPolicy(page))
      expect(opened.dom).toContain('</html>')
      expect(opened.dom).not.toMatch(/<html[^>]* data-ran/)
      expect({ requests: opened.requests, violations: opened.violations }).toEqual({ requests: [], violations: [] })
      const hrefs = [...opened.dom.matchAll(/<[a-z][^>]* href="([^"]*)"/g)].map(([, href = '']) => href)
      expect(hrefs.filter((href) => !/^(?:#[\w-]+$|https?:\/\/|mailto:)/.test(href))).toEqual([])
      const harmless = pageOfEveryEvent(texts.map(({ length }, at) => `${at}`.padEnd(length, 'h')))
      expect(elementsOf(opened).filter(isSteady)).toEqual(elementsOf({ dom: harmless }).filter(isSteady))
    },
  )

  inBrowser(
    'is readable where neither style nor script may be used, as under the policy that Jenkins sends',
    async () => {
      const page = pageOfEveryEvent(['words that are to be read', 'and others'])
      const jenkins = "sandbox allow-same-origin; default-src 'none'; img-src 'self'; style-src 'self'"
      const { dom, requests } = await openPage(page, jenkins)
      expect(requests).toEqual([])
      expect(dom).toContain('words that are to be read')
      expect(dom).toContain('id="step-1"')
    },
  )

  inBrowser('would be seen to run, to ask and to break its policy', async () => {
    const page = pageOfEveryEvent(['x']).replace('<main>', `<main>${hostileStrings.slice(0, 3).join('')}`)
    const opened = await openPage(page, ownPolicy(page))
    expect(opened.violations.length).toBeGreaterThan(0)
    const free =
      '<!doctype html><html><body><script>document.documentElement.dataset.ran=1;fetch("http://evil.example/ran")</script></body></html>'
    const ran = await openPage(free, "default-src * data: blob: 'unsafe-inline'")
    expect(ran.dom).toMatch(/<html[^>]* data-ran/)
    expect(ran.requests.join()).toContain('evil.example')
  })
})

/**
 * Whether the number of elements with this name depends only on the events, not on their texts. The number of "left out" lines depends on the length
 * of the texts, and the browser's parser adds elements that a page may omit.
 */
function isSteady(name: string): boolean {
  return !['p', 'tbody', 'br', 'span', 'li'].includes(name)
}
