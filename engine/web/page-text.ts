import { pdfText } from '../files/pdf-text.ts'
import { cleanOutput } from '../text/clean.ts'
import { htmlToMarkdown } from '../text/html-to-markdown.ts'

/** More takes seconds to convert, in which nothing else happens. */
const longestHtml = 2 * 1024 * 1024

/**
 * A fetched body as a model can read it: HTML as Markdown, the text of a PDF, other text as it is, a sentence for the rest.
 *
 * @param type the content type as it was sent
 */
export async function pageText(body: Buffer, type: string, url: URL): Promise<string> {
  const kind = type.split(';')[0]?.trim().toLowerCase() ?? ''
  if (kind === 'application/pdf' || body.subarray(0, 5).toString('latin1') === '%PDF-') return textOfPdf(body)
  const text = decode(body, type)
  if (text === undefined) {
    return `It is not text (${kind === '' ? 'of no stated type' : kind}, ${body.length} bytes): download it with exec_command.`
  }
  const isHtml =
    kind === 'text/html' || kind === 'application/xhtml+xml' || (kind === '' && /^\s*<(?:!doctype|html)/i.test(text))
  if (!isHtml || text.length > longestHtml) return text
  try {
    return await htmlToMarkdown(text, url)
  } catch {
    // Nested deeper than the converter can follow.
    return text
  }
}

async function textOfPdf(body: Buffer): Promise<string> {
  try {
    const pages = await pdfText(body)
    return pages.map((page, index) => `[page ${index + 1} of ${pages.length}]\n${page}`).join('\n')
  } catch (error) {
    return `It is a PDF that can't be read: ${(error as Error).message}`
  }
}

/** The text in the character set that is stated, or undefined for what is no text. */
function decode(body: Buffer, type: string): string | undefined {
  const inPage = /<meta[^>]+charset=["']?([\w-]+)/i.exec(body.toString('latin1', 0, 1024))?.[1]
  const stated = /charset=["']?([\w-]+)/i.exec(type)?.[1] ?? inPage ?? 'utf-8'
  if (!/^utf-?16/i.test(stated) && body.includes(0)) return undefined
  return cleanOutput(Buffer.from(decoderOf(stated).decode(body)))
}

function decoderOf(name: string): TextDecoder {
  try {
    return new TextDecoder(name)
  } catch {
    return new TextDecoder()
  }
}
