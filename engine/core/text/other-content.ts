/** The maximum number of characters of a page or a text that a message shows. */
const mostShown = 160

/** The first words of a page or a text, without tags, for a message. Empty if there are none. */
export function firstWords(text: string): string {
  const words = text
    .slice(0, 4096)
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return words.slice(0, mostShown)
}

/** A clause about a web page, or another text, that came from an address in place of an answer of the expected kind. */
export function describeOtherContent(text: string, type: string, url: string): string {
  const words = firstWords(text)
  const shown = words === '' ? '' : `, which begins: "${words}"`
  const kind = type === '' ? nameOtherContent(text) : `${nameOtherContent(text)} (${type.split(';')[0]})`
  return `something at ${url.split('?')[0]}, such as a gateway or a login page, sent ${kind}${shown}`
}

export function nameOtherContent(text: string): string {
  return text.trimStart().startsWith('<') ? 'a web page' : 'a text'
}
