/** The parts of an element that this file uses; the browser's types are not available here. */
type WithAttributes = { getAttribute(name: string): string | null }

/**
 * Converts a page's content to Markdown with absolute links.
 *
 * @param base the page's address
 * @param limitMs after how many milliseconds the conversion is stopped. It runs on the main thread, and its time grows with the square of the depth at
 * which elements are nested
 * @throws RangeError if elements are nested too deeply; an error with the code `ERR_SCRIPT_EXECUTION_TIMEOUT` at the limit
 */
export async function htmlToMarkdown(html: string, base: URL, limitMs = 2000): Promise<string> {
  const { default: Turndown } = await import('turndown')
  const { runInNewContext } = await import('node:vm')
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
  // Only code that the vm module runs can be stopped after a time limit. Such code can call functions of this context.
  return String(runInNewContext('convert()', { convert: () => service.turndown(html) }, { timeout: limitMs }))
}
