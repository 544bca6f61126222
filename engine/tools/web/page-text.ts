import { pdfText } from '../files/pdf-text.ts'
import { sanitizeOutput } from '../../core/text/sanitize-output.ts'
import { htmlToMarkdown } from '../../core/text/html-to-markdown.ts'

/** The maximum length of an HTML page that is converted, in characters. Converting a longer one would take seconds and block everything else. */
const longestHtml = 1024 * 1024

/**
 * The maximum nesting depth of a page that is converted. The converter's time grows with the square of the depth. Real pages are nested less than a hundred
 * levels deep.
 */
const deepest = 500

/**
 * Converts a fetched body for a model: HTML to Markdown (unless it is too long or too deeply nested for the converter), a PDF to its text. Other text
 * is only sanitized, and anything else is only described.
 *
 * @param type the content type as the server sent it
 */
export async function pageText(body: Buffer, type: string, url: URL): Promise<string> {
  const kind = type.split(';')[0]?.trim().toLowerCase() ?? ''
  if (kind === 'application/pdf' || body.subarray(0, 5).toString('latin1') === '%PDF-') return textOfPdf(body)
  const text = decode(body, type)
  if (text === undefined) {
    return `The page is not text (${kind === '' ? 'no content type' : kind}, ${body.length} bytes): download it with exec_command.`
  }
  const isHtml =
    kind === 'text/html' || kind === 'application/xhtml+xml' || (kind === '' && /^\s*<(?:!doctype|html)/i.test(text))
  if (!isHtml || text.length > longestHtml || isTooDeep(text)) return text
  try {
    return await htmlToMarkdown(text, url)
  } catch {
    // The page is nested too deeply for the converter, or converting it takes too long.
    return text
  }
}

/** HTML elements that have no end tag, or whose end tag may be left out. Many start tags of this kind in a row don't mean that the elements are nested. */
const flat =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|dt|dd|tr|td|th|tbody|thead|option)$/i

/**
 * Estimates from the tags, without parsing, whether the elements of a page are nested more than `deepest` levels deep. If a malformed page is
 * misjudged, the converter's time limit applies.
 */
function isTooDeep(html: string): boolean {
  let depth = 0
  for (const [, slash, name = ''] of html.matchAll(/<(\/?)([a-z][^\s/>]*)/gi)) {
    if (flat.test(name)) continue
    depth = slash === '/' ? Math.max(0, depth - 1) : depth + 1
    if (depth > deepest) return true
  }
  return false
}

async function textOfPdf(body: Buffer): Promise<string> {
  try {
    const pages = await pdfText(body)
    return pages.map((page, index) => `[page ${index + 1} of ${pages.length}]\n${page}`).join('\n')
  } catch (error) {
    return `The page is a PDF that can't be read: ${(error as Error).message}`
  }
}

/** Decodes the body in its declared character set, or in UTF-8 if none is declared or the declared one is unknown; undefined if it isn't text. */
function decode(body: Buffer, type: string): string | undefined {
  const inPage = /<meta[^>]+charset=["']?([\w-]+)/i.exec(body.toString('latin1', 0, 1024))?.[1]
  const stated = /charset=["']?([\w-]+)/i.exec(type)?.[1] ?? inPage ?? 'utf-8'
  if (!/^utf-?16/i.test(stated) && body.includes(0)) return undefined
  return sanitizeOutput(Buffer.from(decoderOf(stated).decode(body)))
}

function decoderOf(name: string): TextDecoder {
  try {
    return new TextDecoder(name)
  } catch {
    return new TextDecoder()
  }
}
