import { revealed } from '../text/reveal.ts'

/**
 * Text of a page in which all foreign text is escaped. Only `html` makes one, and nothing else is ever written into a page: values in a
 * template are text unless they are one of these.
 */
export class Html {
  readonly #text: string

  /** Nobody outside this file has the key. */
  constructor(key: symbol, text: string) {
    if (key !== ownKey) throw new TypeError('only html makes what is written into a page')
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

const ownKey = Symbol('html')

/** The values of a template. `undefined` and `false` show nothing; a text is escaped, and its invisible characters are shown. */
type Piece = Html | string | number | undefined | false | readonly Html[]

/** A template of a page. Values stand between tags, or in attributes between double quotes. */
export function html(literals: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  let text = literals[0] ?? ''
  for (const [at, piece] of pieces.entries()) text += written(piece) + (literals[at + 1] ?? '')
  return new Html(ownKey, text)
}

/** Parts of a page, one after the other. */
export function joined(parts: readonly Html[]): Html {
  return new Html(ownKey, parts.join(''))
}

/** The page's own style or script, which its policy identifies by hash: not a byte may come between it and its tags. */
export function ownElement(name: 'style' | 'script', text: string): Html {
  if (/<\/(?:style|script)|<!--/i.test(text)) throw new TypeError(`a ${name} that ends itself`)
  return new Html(ownKey, `<${name}>${text}</${name}>`)
}

function written(piece: Piece): string {
  if (piece === undefined || piece === false) return ''
  if (piece instanceof Html) return piece.toString()
  if (typeof piece === 'number') return String(piece)
  return typeof piece === 'string' ? escaped(piece) : piece.join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function escaped(text: string): string {
  return revealed(text).replace(/[&<>"'`]/g, (character) => entities[character] ?? '')
}
