/** The parts of an element that this file uses; the browser's types are not available here. */
type WithAttributes = { getAttribute(name: string): string | null }

/**
 * Converts a page's content to Markdown with absolute links.
 *
 * @param base the page's address
 * @throws RangeError if elements are nested too deeply
 */
export async function htmlToMarkdown(html: string, base: URL): Promise<string> {
  const { default: Turndown } = await import('turndown')
  const service = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  service.remove(['script', 'style', 'noscript', 'title', 'iframe', 'object', 'template', 'button', 'select'])
  service.remove((node) => node.nodeName.toLowerCase() === 'svg')
  service.addRule('link', {
    filter: (node) => node.nodeName === 'A' && node.getAttribute('href') !== null,
    replacement: (content, node) => {
      const href = (node as WithAttributes).getAttribute('href') ?? ''
      const target = URL.canParse(href, base) ? new URL(href, base).href : href
      return content.trim() === '' ? '' : `[${content.trim()}](${target})`
    },
  })
  return service.turndown(html)
}
