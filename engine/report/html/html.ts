import { revealed } from '../text/reveal.ts'

/**
 * A piece of a page in which all untrusted text is escaped. Only the functions in this file can create pieces. Any other value in a template is
 * escaped as text.
 */
export class Html {
  readonly #text: string

  /** Can only be called in this file, because no other file has the key. */
  constructor(key: symbol, text: string) {
    if (key !== ownKey) throw new TypeError('only the html template tag may create markup for a page')
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

const ownKey = Symbol('html')

/**
 * The values that a template accepts. `undefined` and `false` render as nothing. Strings are escaped, and their invisible characters are made
 * visible.
 */
type Piece = Html | string | number | undefined | false | readonly Html[]

/** A template tag for parts of a page. Values may appear between tags, or inside attribute values in double quotes. */
export function html(literals: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  let text = literals[0] ?? ''
  for (const [at, piece] of pieces.entries()) text += written(piece) + (literals[at + 1] ?? '')
  return new Html(ownKey, text)
}

/** Joins parts of a page. */
export function joined(parts: readonly Html[]): Html {
  return new Html(ownKey, parts.join(''))
}

/**
 * Renders the page's own style or script. The page's policy identifies it by its hash, so not even white space may come between the text and its
 * tags.
 */
export function ownElement(name: 'style' | 'script', text: string): Html {
  if (/<\/(?:style|script)|<!--/i.test(text))
    throw new TypeError(`the text of a ${name} element must not contain its closing tag or a comment`)
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
