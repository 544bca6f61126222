import { expect, test } from 'vitest'
import { htmlToMarkdown } from '../../../engine/core/text/html-to-markdown.ts'

const base = new URL('http://site.test/folder/')

test('a page becomes Markdown with absolute links', async () => {
  expect(await htmlToMarkdown('<h1>Title</h1><p>See <a href="b">b</a>.</p>', base)).toBe(
    '# Title\n\nSee [b](http://site.test/folder/b).',
  )
})

test('a page whose conversion takes too long is given up, however it is nested', async () => {
  const page = '<div></x>'.repeat(20_000)
  await expect(htmlToMarkdown(page, base, 50)).rejects.toMatchObject({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })
})
