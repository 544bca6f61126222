/**
 * Extracts the text of a PDF, page by page.
 *
 * @throws Error if the PDF can't be parsed
 */
export async function pdfText(bytes: Uint8Array): Promise<readonly string[]> {
  const { extractText, getDocumentProxy } = await import('unpdf')
  // The library detaches the buffer that it is given, so it gets a copy.
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const { text } = await extractText(document, { mergePages: false })
  return text
}
